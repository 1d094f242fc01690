// Adds and reads entries.
#include "engine/history/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <tuple>

#include "engine/bench/benchmark_name.h"
#include "engine/bench/quantiles.h"
#include "engine/history/database.h"
#include "engine/history/schema.h"

namespace dmlconform::history {
namespace {

using nlohmann::json;

/// Longer than any transaction takes, even if many are waiting.
constexpr int busy_milliseconds = 60'000;

core::Error explain(const std::string& path, const SqlError& error) {
    switch (error.code()) {
        case SQLITE_NOTADB:
            return {fmt::format("{}: this is not a history, but another kind of file", path),
                    "`dmlconform history add` makes one"};
        case SQLITE_CORRUPT:
            return {fmt::format("{}: the history is damaged: {}", path, error.what()), "is the file all there?"};
        case SQLITE_CANTOPEN:
            return {fmt::format("{}: cannot be opened", path), "does the folder exist, and is it writable?"};
        case SQLITE_BUSY:
            return {fmt::format("{}: another program has been writing to it for too long", path), ""};
        case SQLITE_FULL:
            return {fmt::format("{}: {}", path, error.what()), "is there room on the disk? Nothing was added"};
        case SQLITE_IOERR:
            return {fmt::format("{}: {}", path, error.what()),
                    "is the disk full, or the limit on the size of files reached (ulimit -f)?"};
        case SQLITE_ERROR:
            // The statements are correct, so the file's tables are not.
            return {fmt::format("{}: the history is damaged: its tables are not those of a history ({})", path,
                                error.what()),
                    "has another program changed it?"};
        default:
            return {fmt::format("{}: {}", path, error.what()), ""};
    }
}

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// The version of a history; 0 for an empty file.
core::Result<std::int64_t> version_of(const std::string& path, Database& database) {
    const std::int64_t id = database.number("PRAGMA application_id");
    const std::int64_t version = database.number("PRAGMA user_version");
    if (id == 0 && version == 0 && database.number("SELECT count(*) FROM sqlite_master") == 0) {
        return 0;
    }
    if (id != application_id) {
        return core::fail(fmt::format("{}: this is a database, but no history of dmlconform", path));
    }
    if (version < 1 || version > schema_version) {
        return core::fail(fmt::format("{}: the history is of version {}, and only versions up to {} are known here",
                                      path, version, schema_version),
                          "was it written by a newer dmlconform?");
    }
    return version;
}

/// Creates the tables, or brings them up to date, if necessary. Other processes may do so at the same time.
core::Result<void> prepare(const std::string& path, Database& database) {
    Transaction transaction(database, Transaction::Access::write);
    const auto version = version_of(path, database);
    if (!version) {
        return tl::unexpected(version.error());
    }
    if (*version == 0) {
        database.execute(schema);
        database.execute(fmt::format("PRAGMA application_id = {}", application_id));
    } else {
        Statement check = database.prepare("PRAGMA quick_check(1)");
        if (check.step() && check.text(0) != "ok") {
            return core::fail(fmt::format("{}: the history is damaged: {}", path, check.text(0)),
                              "is the file all there?");
        }
    }
    if (*version != 0 && *version < version_with_labels) {
        database.execute(add_labels);
    }
    if (*version != schema_version) {
        database.execute(fmt::format("PRAGMA user_version = {}", schema_version));
        transaction.commit();
    }
    return {};
}

/// Parses the list of seconds that add() wrote; empty for anything else, which only another program can have written.
std::vector<double> seconds_of(const std::string& text) {
    const json list = json::parse(text, nullptr, false);
    const bool good =
        list.is_array() && std::all_of(list.begin(), list.end(), [](const json& entry) { return entry.is_number(); });
    return good ? list.get<std::vector<double>>() : std::vector<double>();
}

/// The repetitions, in a list for each process if there are several.
json seconds_json(const Times& entry) {
    if (entry.by_process.empty()) {
        return entry.seconds;
    }
    json lists = json::array();
    auto next = entry.seconds.begin();
    for (const std::size_t count : entry.by_process) {
        const auto end = next + static_cast<std::ptrdiff_t>(count);
        lists.push_back(std::vector<double>(next, end));
        next = end;
    }
    return lists;
}

/// Parses what seconds_json() made, in the same way as seconds_of().
void read_seconds(const std::string& text, Times& times) {
    const json lists = json::parse(text, nullptr, false);
    if (!lists.is_array() || lists.empty() || !lists[0].is_array()) {
        times.seconds = seconds_of(text);
        return;
    }
    for (const json& list : lists) {
        const auto seconds = seconds_of(list.dump());
        if (!seconds.empty()) {
            times.seconds.insert(times.seconds.end(), seconds.begin(), seconds.end());
            times.by_process.push_back(seconds.size());
        }
    }
}

/// The least of a sample. Its error is half of the way to the third one: if disturbances above the true time are
/// distributed exponentially, the least of n is 1/n of their mean above it with the same deviation, and the first two
/// gaps in the sample are 1/(n - 1) and 1/(n - 2) of that mean.
Point::Fastest fastest_of(std::vector<double> sample) {
    std::ranges::sort(sample);
    return {sample.front(), sample.size() < 3 ? 0 : std::log(sample[2] / sample[0]) / 2};
}

/// Keyed by the names of statuses, because more may be added.
json counts_json(const Outcome& outcome) {
    json counts = json::object();
    for (std::size_t status = 0; status < outcome.counts.size(); ++status) {
        if (outcome.counts[status] != 0) {
            counts[run::to_string(static_cast<run::Status>(status))] = outcome.counts[status];
        }
    }
    return counts;
}

Outcome outcome_of(const Statement& query, int first) {
    Outcome outcome;
    outcome.engine = query.text(first);
    outcome.operator_name = query.text(first + 1);
    outcome.gated = query.integer(first + 2) != 0;
    const json counts = json::parse(query.text(first + 3), nullptr, false);
    for (std::size_t status = 0; status < outcome.counts.size(); ++status) {
        const char* name = run::to_string(static_cast<run::Status>(status));
        if (counts.is_object() && counts.contains(name) && counts[name].is_number_unsigned()) {
            outcome.counts[status] = counts[name].get<std::uint64_t>();
        }
    }
    outcome.seconds = query.real(first + 4);
    return outcome;
}

/// A row of the query in Store::series().
Point point_of(const Statement& query, bool by_processor) {
    Point point{query.integer(4),
                query.integer(5),
                query.text(6),
                query.text(7),
                query.real(8),
                query.real(9),
                query.real(10),
                static_cast<std::size_t>(query.integer(11)),
                {}};
    if (!query.is_null(12)) {
        point.percent_of_roofline = query.real(12);
    }
    if (by_processor) {
        Times times;
        read_seconds(query.text(13), times);
        if (!times.seconds.empty()) {
            point.fastest = fastest_of(times.sample());
        }
    }
    return point;
}

/// Collects series, of which those of a benchmark on one machine and adapter come one after another. A benchmark with
/// several labels has a series for each.
class SeriesByLabel {
public:
    /// The series that the next point belongs to. Without a label it is the one of the previous point.
    [[nodiscard]] Series& series_of(Series benchmark, const std::string& label) {
        const auto key = [](const Series& series) {
            return std::tie(series.benchmark, series.machine, series.engine, series.adapter);
        };
        if (all_.empty() || key(all_[latest_]) != key(benchmark)) {
            first_ = all_.size();
            return add(std::move(benchmark), label);
        }
        for (std::size_t i = first_; i < all_.size(); ++i) {
            if (label.empty() ? i == latest_ : all_[i].label == label || all_[i].label.empty()) {
                all_[latest_].replaced = true;
                latest_ = i;
                all_[i].replaced = false;
                all_[i].label = label.empty() ? all_[i].label : label;
                return all_[i];
            }
        }
        all_[latest_].replaced = all_[latest_].one_of_several = true;
        benchmark.one_of_several = true;
        return add(std::move(benchmark), label);
    }

    [[nodiscard]] std::vector<Series> take() { return std::move(all_); }

private:
    Series& add(Series series, const std::string& label) {
        series.label = label;
        latest_ = all_.size();
        return all_.emplace_back(std::move(series));
    }

    std::vector<Series> all_;
    /// Of the benchmark at hand: its first series, and that of its latest point.
    std::size_t first_ = 0;
    std::size_t latest_ = 0;
};

}  // namespace

Store::Store(std::string path) : path_(std::move(path)) {}
Store::~Store() = default;

template <class Work>
auto Store::guarded(const Work& work) -> core::Result<decltype(work())> {
    try {
        return work();
    } catch (const SqlError& error) {
        return tl::unexpected(explain(path_, error));
    }
}

tl::expected<std::unique_ptr<Store>, OpenError> Store::open(const std::string& path, Access access) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (path.empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))) {
        return core::fail(fmt::format("\"{}\" is not a file that a history can be in", path));
    }
    if (access == Access::read && !std::filesystem::exists(path, ignored)) {
        return core::fail(fmt::format("{}: there is no history", path), "`dmlconform history add` makes one");
    }
    std::unique_ptr<Store> store(new Store(path));
    // Reading needs write access as well, to roll back what a killed writer left.
    const int flags = SQLITE_OPEN_READWRITE | (access == Access::write ? SQLITE_OPEN_CREATE : 0);
    try {
        // SQLite interprets such names: as databases in memory, and as URIs.
        const bool is_special = path.starts_with(':') || path.starts_with("file:");
        store->database_ = std::make_unique<Database>(is_special ? "./" + path : path, flags, busy_milliseconds);
        if (access == Access::write) {
            if (auto ready = prepare(path, *store->database_); !ready) {
                return tl::unexpected(ready.error());
            }
        } else if (const auto version = version_of(path, *store->database_); !version) {
            return tl::unexpected(version.error());
        } else if (store->has_labels_ = *version >= version_with_labels; *version == 0) {
            return core::fail(fmt::format("{}: there is nothing in it", path), "`dmlconform history add` fills one");
        }
    } catch (const SqlError& error) {
        const bool of_the_disk = error.code() == SQLITE_FULL || error.code() == SQLITE_IOERR;
        return tl::unexpected(OpenError(explain(path, error), of_the_disk));
    }
    return store;
}

const char* Store::label_column() const {
    return has_labels_ ? "label" : "''";
}

std::string Series::title() const {
    return one_of_several ? fmt::format("{} ({})", benchmark, label) : benchmark;
}

double Point::error() const {
    if (fastest) {
        return fastest->error;
    }
    if (repetitions < 3 || low <= 0) {
        return 0;
    }
    // The quartiles of a normal distribution are 1.349 standard deviations apart, and the standard error of its median
    // is sqrt(pi / 2) times that of the mean.
    return std::log(high / low) / 1.349 * std::sqrt(std::numbers::pi / 2 / static_cast<double>(repetitions));
}

core::Result<std::vector<Added>> Store::add(std::span<const Submission> submissions) {
    return guarded([&] {
        Transaction transaction(*database_, Transaction::Access::write);
        std::vector<Added> added;
        const std::int64_t moment = now();
        for (const Submission& submission : submissions) {
            added.push_back(add_one(submission, moment));
        }
        transaction.commit();
        return added;
    });
}

Added Store::add_one(const Submission& submission, std::int64_t moment) {
    const Record& record = submission.record;
    const std::string print = fingerprint(record);
    Statement known = database_->prepare("SELECT id, \"commit\" FROM entry WHERE fingerprint IN (?, ?)");
    // An earlier version may have added it.
    if (known.bind(0, print).bind(1, fingerprint_without_labels(record)).step()) {
        return {known.integer(0), true, known.text(1)};
    }
    Statement insert = database_->prepare(
        "INSERT INTO entry (kind, measured, added, \"commit\", machine, source, fingerprint) VALUES (?,?,?,?,?,?,?)");
    insert.bind(0, std::string_view(to_string(record.kind))).bind(1, record.measured.value_or(moment)).bind(2, moment);
    insert.bind(3, submission.commit).bind(4, record.machine).bind(5, submission.source).bind(6, print).run();
    const std::int64_t id = database_->last_id();
    add_parts(record, id);
    return {id, false, submission.commit};
}

void Store::add_parts(const Record& record, std::int64_t id) {
    Statement device = database_->prepare("INSERT OR IGNORE INTO device VALUES (?,?,?,?)");
    for (const Device& entry : record.devices) {
        device.bind(0, id).bind(1, entry.engine).bind(2, entry.adapter).bind(3, entry.driver).run();
    }
    Statement times = database_->prepare("INSERT INTO times VALUES (?,?,?,?,?,?,?,?,?)");
    for (const Times& entry : record.times) {
        auto sorted = entry.sample();
        std::sort(sorted.begin(), sorted.end());
        times.bind(0, id).bind(1, entry.benchmark).bind(2, entry.engine).bind(3, bench::quantile(sorted, 0.5));
        times.bind(4, bench::quantile(sorted, 0.25)).bind(5, bench::quantile(sorted, 0.75));
        if (entry.percent_of_roofline) {
            times.bind(6, *entry.percent_of_roofline);
        } else {
            times.bind_null(6);
        }
        times.bind(7, seconds_json(entry).dump()).bind(8, entry.label).run();
    }
    Statement outcome = database_->prepare("INSERT INTO outcome VALUES (?,?,?,?,?,?)");
    for (const Outcome& entry : record.outcomes) {
        outcome.bind(0, id).bind(1, entry.engine).bind(2, entry.operator_name);
        outcome.bind(3, std::int64_t{entry.gated}).bind(4, counts_json(entry).dump()).bind(5, entry.seconds).run();
    }
}

core::Result<std::vector<Entry>> Store::entries() {
    return guarded([&] {
        Statement query = database_->prepare(
            "SELECT id, kind, measured, \"commit\", machine, source FROM entry ORDER BY measured, id");
        std::vector<Entry> entries;
        while (query.step()) {
            entries.push_back({query.integer(0), query.text(1) == to_string(Kind::run) ? Kind::run : Kind::bench,
                               query.integer(2), query.text(3), query.text(4), query.text(5)});
        }
        return entries;
    });
}

core::Result<Record> Store::record(std::int64_t entry) {
    return guarded([&] {
        Record record;
        Statement head = database_->prepare("SELECT kind, measured, machine FROM entry WHERE id = ?");
        if (head.bind(0, entry).step()) {
            record.kind = head.text(0) == to_string(Kind::run) ? Kind::run : Kind::bench;
            record.measured = head.integer(1);
            record.machine = head.text(2);
        }
        Statement devices =
            database_->prepare("SELECT engine, adapter, driver FROM device WHERE entry = ? ORDER BY engine");
        for (devices.bind(0, entry); devices.step();) {
            record.devices.push_back({devices.text(0), devices.text(1), devices.text(2)});
        }
        Statement times = database_->prepare(
            fmt::format("SELECT benchmark, engine, seconds, percent_of_roofline, {} FROM times WHERE entry = ?"
                        " ORDER BY benchmark",
                        label_column()));
        for (times.bind(0, entry); times.step();) {
            Times mine{times.text(0), times.text(1), {}, {}, {}, times.text(4)};
            read_seconds(times.text(2), mine);
            if (mine.seconds.empty()) {
                continue;
            }
            record.times.push_back(std::move(mine));
            if (!times.is_null(3)) {
                record.times.back().percent_of_roofline = times.real(3);
            }
        }
        Statement outcomes = database_->prepare(
            "SELECT engine, operator, gated, counts, seconds FROM outcome WHERE entry = ? ORDER BY 1, 2, 3");
        for (outcomes.bind(0, entry); outcomes.step();) {
            record.outcomes.push_back(outcome_of(outcomes, 0));
        }
        return record;
    });
}

core::Result<std::vector<Series>> Store::series() {
    return guarded([&] {
        Statement query = database_->prepare(fmt::format(
            "SELECT benchmark, machine, times.engine, coalesce(adapter, ''), entry.id, measured, \"commit\","
            " coalesce(driver, ''), median, low, high, json_array_length(seconds), percent_of_roofline, seconds, {}"
            " FROM times JOIN entry ON entry.id = times.entry"
            " LEFT JOIN device ON device.entry = times.entry AND device.engine = times.engine"
            " ORDER BY benchmark, machine, times.engine, 4, measured, entry.id",
            label_column()));
        SeriesByLabel all;
        while (query.step()) {
            Series& series =
                all.series_of({query.text(0), query.text(1), query.text(2), query.text(3), {}}, query.text(14));
            series.points.push_back(point_of(query, bench::split_name(series.benchmark).by_processor));
        }
        return all.take();
    });
}

core::Result<std::vector<OutcomeSeries>> Store::outcomes() {
    return guarded([&] {
        Statement query = database_->prepare(
            "SELECT operator, machine, outcome.engine, coalesce(adapter, ''), entry.id, measured, \"commit\","
            " coalesce(driver, ''), outcome.engine, operator, gated, counts, seconds"
            " FROM outcome JOIN entry ON entry.id = outcome.entry"
            " LEFT JOIN device ON device.entry = outcome.entry AND device.engine = outcome.engine"
            " WHERE gated ORDER BY operator, machine, outcome.engine, 4, measured, entry.id");
        std::vector<OutcomeSeries> all;
        const auto key = [](const OutcomeSeries& series) {
            return std::tie(series.operator_name, series.machine, series.engine, series.adapter);
        };
        while (query.step()) {
            OutcomeSeries here{query.text(0), query.text(1), query.text(2), query.text(3), {}};
            if (all.empty() || key(all.back()) != key(here)) {
                all.push_back(std::move(here));
            }
            all.back().points.push_back(
                {query.integer(4), query.integer(5), query.text(6), query.text(7), outcome_of(query, 8)});
        }
        return all;
    });
}

}  // namespace dmlconform::history

// Reads benchmark results.
#include "engine/bench/benchmark_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "engine/bench/conditions.h"
#include "engine/bench/quantiles.h"
#include "engine/cases/json_list.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"

namespace dmlconform::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Limit; the results of a whole day take a few megabytes.
constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;

std::optional<double> seconds_per_unit(const std::string& unit) {
    static const std::map<std::string, double> units{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const auto found = units.find(unit);
    return found == units.end() ? std::nullopt : std::optional(found->second);
}

bool is_text(const Json& object, const char* member, const char* text) {
    const auto found = object.find(member);
    return found != object.end() && *found == text;
}

/// Reads the results, and remembers the position for error messages.
class Reader {
public:
    Reader(const std::string& path, BenchmarkFile& file) : path_(path), file_(file) {}

    core::Result<void> read(std::istream& stream) {
        std::map<std::string, BenchmarkTimes> medians;
        const auto document = cases::read_json_list(
            path_, stream, "benchmarks",
            [&](const Json& entry, std::size_t index) { return read_entry(entry, index, medians); });
        if (!document) {
            return tl::unexpected(document.error());
        }
        if (!document->is_object() || !document->contains("benchmarks") || !(*document)["benchmarks"].is_array()) {
            return core::fail(fmt::format("{}: no results of Google Benchmark: there is no list \"benchmarks\"", path_),
                              "`dmlconform bench --benchmark_out=FILE` writes them");
        }
        if (const auto context = document->find("context"); context != document->end() && context->is_object()) {
            for (const auto& [name, value] : context->items()) {
                if (value.is_string()) {
                    file_.context[name] = value.get<std::string>();
                } else if (value.is_number_integer()) {
                    file_.context[name] = value.dump();
                }
            }
        }
        // Single repetitions replace their median.
        file_.benchmarks.merge(medians);
        return {};
    }

private:
    [[nodiscard]] tl::unexpected<core::Error> wrong(std::size_t i, const char* member, const std::string& what) const {
        return core::fail(fmt::format("{}: /benchmarks/{}/{}: {}", path_, i, member, what));
    }

    core::Result<void> read_entry(const Json& entry, std::size_t i, std::map<std::string, BenchmarkTimes>& medians) {
        if (!entry.is_object()) {
            return wrong(i, "", "this is not an object");
        }
        for (const char* member : {"name", "time_unit"}) {
            if (!entry.contains(member) || !entry[member].is_string()) {
                return wrong(i, member, "a text is missing");
            }
        }
        if (entry.contains("error_occurred") && entry["error_occurred"] == true) {
            return {};  // has no time
        }
        const auto unit = seconds_per_unit(entry["time_unit"].get<std::string>());
        const bool is_aggregate = entry.contains("run_type") && entry["run_type"] == "aggregate";
        if (is_aggregate && (!is_text(entry, "aggregate_name", "median") ||
                             (entry.contains("aggregate_unit") && !is_text(entry, "aggregate_unit", "time")))) {
            return {};
        }
        if (!unit) {
            return wrong(i, "time_unit",
                         fmt::format("there is no unit {}; it may be ns, us, ms or s",
                                     core::shortened(entry["time_unit"].dump())));
        }
        if (!entry.contains("real_time") || !entry["real_time"].is_number()) {
            return wrong(i, "real_time", "a number is missing");
        }
        const double seconds = entry["real_time"].get<double>() * *unit;
        if (!std::isfinite(seconds) || seconds <= 0) {
            return wrong(i, "real_time",
                         fmt::format("{} is not a time that something takes", entry["real_time"].dump()));
        }
        const bool has_run_name = entry.contains("run_name") && entry["run_name"].is_string();
        const std::string name = entry[has_run_name ? "run_name" : "name"].get<std::string>();
        const auto [first_unit, is_first] = units_.try_emplace(name, entry["time_unit"]);
        if (!is_first && entry["time_unit"] != first_unit->second) {
            return wrong(
                i, "time_unit",
                fmt::format("{}, but what came before of {} is in {}", core::shortened(entry["time_unit"].dump()),
                            core::shortened(name), Json(first_unit->second).dump()));
        }
        BenchmarkTimes& times = (is_aggregate ? medians : file_.benchmarks)[name];
        times.seconds.push_back(seconds);
        add_counters(entry, times);
        if (auto added = add_to_process(entry, i, seconds, times); !added) {
            return added;
        }
        if (entry.contains("label") && entry["label"].is_string()) {
            // The operator, then a blank and the digest of its descriptor.
            const auto label = entry["label"].get<std::string>();
            const std::size_t blank = std::min(label.find(' '), label.size());
            times.label = label.substr(0, blank);
            times.descriptor = label.substr(std::min(blank + 1, label.size()));
        }
        return {};
    }

    static void add_counters(const Json& entry, BenchmarkTimes& times) {
        for (const char* name : {"bytes_per_second", "items_per_second", "operations_per_second", "percent_of_roofline",
                                 unsettled_counter}) {
            if (const auto found = entry.find(name); found != entry.end() && found->is_number()) {
                times.counters[name].push_back(found->get<double>());
            }
        }
    }

    /// "node NAME µs" has the time of a graph's node.
    static void add_nodes(const Json& entry, ProcessTimes& times) {
        constexpr std::string_view before = "node ";
        constexpr std::string_view after = " µs";
        for (const auto& [name, value] : entry.items()) {
            if (name.starts_with(before) && name.ends_with(after) && name.size() > before.size() + after.size() &&
                value.is_number() && value.get<double>() > 0) {
                times.nodes[name.substr(before.size(), name.size() - before.size() - after.size())].push_back(
                    value.get<double>() * 1e-6);
            }
        }
    }

    /// Adds a repetition to its process. Without a number, all repetitions come from the same one.
    [[nodiscard]] core::Result<void> add_to_process(const Json& entry, std::size_t i, double seconds,
                                                    BenchmarkTimes& times) const {
        constexpr double most_processes = 1e6;
        const auto number = entry.find(process_counter);
        const bool has_number = number != entry.end();
        const double process = has_number && number->is_number() ? number->get<double>() : 0;
        if ((has_number && !number->is_number()) || !(process >= 0 && process <= most_processes) ||
            process != std::floor(process)) {
            return wrong(i, process_counter,
                         fmt::format("{} is not the number of a process", core::shortened(number->dump())));
        }
        ProcessTimes& mine = times.processes[static_cast<std::int64_t>(process)];
        mine.seconds.push_back(seconds);
        mine.unsettled = mine.unsettled || entry.contains(unsettled_counter);
        const auto add = [&](const char* name, double least, double most, std::vector<double>& values) {
            if (const auto found = entry.find(name); found != entry.end() && found->is_number()) {
                const double value = found->get<double>();
                if (value >= least && value <= most) {
                    values.push_back(value);
                }
            }
        };
        add(yardstick_counter, std::numeric_limits<double>::min(), std::numeric_limits<double>::max(), mine.yardstick);
        add(waited_counter, 0, 1, mine.waited);
        add_nodes(entry, mine);
        return {};
    }

    const std::string& path_;
    BenchmarkFile& file_;
    /// By benchmark, because merged files must not mix units.
    std::map<std::string, std::string> units_;
};

core::Result<BenchmarkFile> read_from(const std::string& path, std::istream& stream) {
    BenchmarkFile file;
    if (auto read = Reader(path, file).read(stream); !read) {
        return tl::unexpected(read.error());
    }
    if (file.benchmarks.empty()) {
        return core::fail(fmt::format("{}: there are no times in it", path));
    }
    return file;
}

}  // namespace

bool BenchmarkTimes::unsettled() const {
    return !processes.empty() && std::ranges::all_of(processes, [](const auto& each) { return each.second.unsettled; });
}

core::Result<BenchmarkFile> parse_benchmark_file(const std::string& path, std::string_view text) {
    std::istringstream stream{std::string(text)};
    return read_from(path, stream);
}

core::Result<BenchmarkFile> read_benchmark_file(const std::string& path) {
    auto stream = core::open_regular_file(path, most_bytes);
    if (!stream) {
        return core::fail(fmt::format("{}: {}", path, stream.error().message));
    }
    return read_from(path, *stream);
}

}  // namespace dmlconform::bench

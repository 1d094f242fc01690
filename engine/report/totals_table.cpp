// Rows for single operators, rows for groups of operators, and sums.
#include "engine/report/totals_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/report/text_table.h"

namespace dmlconform::report {
namespace {

/// If more operators than this have no failures, they share a row.
constexpr std::size_t most_quiet_operators = 12;

bool only_skips(const run::Tally& tally) {
    for (std::size_t status = 0; status < run::status_count; ++status) {
        if (static_cast<run::Status>(status) != run::Status::skip && tally.counts[status] != 0) {
            return false;
        }
    }
    return true;
}

bool has_failures(const run::Tally& tally) {
    for (std::size_t status = 0; status < run::status_count; ++status) {
        if (run::is_failure(static_cast<run::Status>(status)) && tally.counts[status] != 0) {
            return true;
        }
    }
    return false;
}

/// A group of operators that share a row for an engine.
struct Shared {
    std::size_t operators = 0;
    run::Tally tally;

    void add(const run::Tally& row) {
        ++operators;
        tally.add(row);
    }
};

class Rows {
public:
    Rows(const run::RunTotals& totals, bool every_row)
        : totals_(totals),
          skipped_(totals.engines.size()),
          quiet_(totals.engines.size()),
          table_({"operator", "engine"}) {
        std::set<std::string> operators;
        for (const auto& [key, tally] : totals.rows) {
            operators.insert(key.first);
            if (has_failures(tally)) {
                failing_.insert(key.first);
            }
            if (only_skips(tally)) {
                skipped_[key.second].add(tally);
            }
        }
        fold_quiet_ = !every_row && operators.size() - failing_.size() > most_quiet_operators;
        for (std::size_t status = 0; status < run::status_count; ++status) {
            const auto which = static_cast<run::Status>(status);
            table_.add_count_column(to_string(which), which);
        }
        table_.add_value_column("total time");
        table_.add_value_column("execution");
        steady_ = std::any_of(totals.all.begin(), totals.all.end(),
                              [](const run::Tally& tally) { return !tally.steady.empty(); });
        if (steady_) {
            table_.add_value_column("steady");
        }
    }

    TextTable table() {
        for (const auto& [key, tally] : totals_.rows) {
            const auto& [name, engine] = key;
            if (only_skips(tally) && skipped_[engine].operators > 1) {
                continue;
            }
            if (fold_quiet_ && !failing_.contains(name)) {
                quiet_[engine].add(tally);
                continue;
            }
            add(name, engine, tally);
        }
        add_shared(quiet_, failing_.empty() ? "operators" : "other operators", 0);
        add_shared(skipped_, "operators skipped", 1);
        for (std::size_t i = 0; i < totals_.engines.size() && totals_.rows.size() > totals_.engines.size(); ++i) {
            add("all", i, totals_.all[i]);
        }
        return std::move(table_);
    }

private:
    void add_shared(const std::vector<Shared>& rows, const char* what, std::size_t more_than) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].operators > more_than) {
                add(fmt::format("{} {}", rows[i].operators, what), i, rows[i].tally);
            }
        }
    }

    void add(const std::string& name, std::size_t engine, const run::Tally& tally) {
        const auto median = [](const run::DurationHistogram& times) {
            return times.empty() ? std::string("-") : format_duration(times.median());
        };
        std::vector<std::string> values{format_duration(tally.total), median(tally.executions)};
        if (steady_) {
            values.push_back(median(tally.steady));
        }
        table_.add_row({name, totals_.engines[engine].name}, {tally.counts.begin(), tally.counts.end()},
                       std::move(values));
    }

    const run::RunTotals& totals_;
    std::set<std::string> failing_;
    std::vector<Shared> skipped_;
    std::vector<Shared> quiet_;
    bool fold_quiet_ = false;
    bool steady_ = false;
    TextTable table_;
};

}  // namespace

core::ShownText totals_table(const run::RunTotals& totals, const ConsoleStyle& style, std::size_t width,
                             bool every_row) {
    return Rows(totals, every_row).table().text(width, style);
}

}  // namespace dmlconform::report

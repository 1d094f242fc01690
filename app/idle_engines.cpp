// Finds and reports idle engines.
#include "app/idle_engines.h"

#include <algorithm>
#include <numeric>

#include "app/standard_streams.h"
#include "engine/run/worker_engines.h"

namespace dmlconform::app {

std::vector<std::string> idle_engines(const std::vector<std::string>& named, const run::RunTotals& totals) {
    std::vector<std::string> idle;
    for (std::size_t i = 0; i < totals.engines.size(); ++i) {
        const std::string& name = totals.engines[i].name;
        const bool by_name = name.starts_with(run::exec_prefix) || std::ranges::find(named, name) != named.end();
        const auto& counts = totals.all[i].counts;
        const std::size_t skipped = totals.all[i].count(run::Status::skip);
        if (by_name && skipped != 0 && std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == skipped) {
            idle.push_back(name);
        }
    }
    return idle;
}

void print_idle(const std::vector<std::string>& idle) {
    for (const std::string& name : idle) {
        say("Nothing was verified on {}: it skipped every case.\n", name);
    }
}

void print_forbidden_skips(const run::RunTotals& totals) {
    say("Skipped, which --fail-on-skip makes a failure:\n");
    for (const std::string& line : run::reason_lines(totals.skips, "case")) {
        say("  {}\n", line);
    }
}

}  // namespace dmlconform::app

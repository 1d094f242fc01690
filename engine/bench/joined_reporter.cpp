// Forwards the first header and all results to one reporter.
#include "engine/bench/joined_reporter.h"

#include <algorithm>
#include <cmath>

#include "engine/bench/repetitions.h"

namespace dmlconform::bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

bool is_left_out(const Run& run) {
    const std::string error = error_of(run);
    return error == not_needed || error == interrupted;
}

}  // namespace

bool JoinedReporter::ReportContext(const Context& context) {
    if (!begun_) {
        begun_ = true;
        watcher_.before_output();
        Context joined = context;
        joined.name_field_width = std::max(joined.name_field_width, longest_name_);
        goes_on_ = inner_.ReportContext(joined);
    }
    return goes_on_;
}

void JoinedReporter::ReportRuns(const std::vector<Run>& report) {
    Runs kept;
    std::copy_if(report.begin(), report.end(), std::back_inserter(kept),
                 [](const Run& run) { return !is_left_out(run); });
    if (kept.empty()) {
        return;
    }
    const auto repetitions =
        std::count_if(kept.begin(), kept.end(), [](const Run& run) { return run.run_type == Run::RT_Iteration; });
    for (Run& run : kept) {
        run.run_name.min_time.clear();
        run.run_name.repetitions.clear();
        // JSON has no NaN, which the coefficient of variation is for a counter that is always 0.
        std::erase_if(run.counters, [](const auto& counter) { return !std::isfinite(counter.second.value); });
        run.repetitions = repetitions != 0 ? repetitions : repetitions_;
        if (error_of(run).empty()) {
            timed_.insert(run.run_name.str());
        }
    }
    repetitions_ = kept.front().repetitions;
    watcher_.before_output();
    inner_.ReportRuns(kept);
}

void JoinedReporter::end() {
    if (begun_) {
        watcher_.before_output();
        inner_.Finalize();
    }
}

}  // namespace dmlconform::bench

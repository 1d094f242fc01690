// Reads Google Benchmark's runs.
#include "engine/bench/repetitions.h"

#include "engine/bench/quantiles.h"
#include "engine/bench/steadiness.h"

namespace dmlconform::bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

bool is_repetition(const Run& run) {
    return run.run_type == Run::RT_Iteration && error_of(run).empty();
}

/// The member is called otherwise since version 1.8.
template <class AnyRun>
std::string error_in(const AnyRun& run) {
    if constexpr (requires { run.error_occurred; }) {
        return run.error_occurred ? run.error_message : "";
    } else {
        return run.skipped != 0 ? run.skip_message : "";
    }
}

template <class AnyRun>
void set_error_in(AnyRun& run, const std::string& error) {
    if constexpr (requires { run.error_occurred; }) {
        run.error_occurred = true;
        run.error_message = error;
    } else {
        run.skipped = decltype(run.skipped){2};  // benchmark::internal::SkippedWithError
        run.skip_message = error;
    }
}

}  // namespace

std::string error_of(const Run& run) {
    return error_in(run);
}

void set_error(Run& run, const std::string& error) {
    set_error_in(run, error);
}

Repetitions repetitions_of(const Runs& runs, const std::set<std::string>& timed_by_devices) {
    Repetitions repetitions;
    for (const Run& run : runs) {
        repetitions.name = run.run_name.str();
        if (is_repetition(run)) {
            repetitions.seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
        } else if (const std::string error = error_of(run); !error.empty()) {
            repetitions.error = repetitions.failures == 0 ? error : repetitions.error;
            ++repetitions.failures;
        }
    }
    const bool by_device = !runs.empty() && timed_by_devices.contains(runs.front().run_name.function_name);
    repetitions.unsettled = is_unsettled(repetitions.seconds, by_device ? TimedBy::device : TimedBy::host);
    return repetitions;
}

std::optional<double> median_counter(const Runs& runs, const std::string& name) {
    std::vector<double> values;
    for (const Run& run : runs) {
        if (const auto found = run.counters.find(name); is_repetition(run) && found != run.counters.end()) {
            values.push_back(found->second.value);
        }
    }
    return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

}  // namespace dmlconform::bench

// The numbers in the runs that Google Benchmark passes to reporters.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dmlconform::bench {

using Runs = std::vector<benchmark::BenchmarkReporter::Run>;

/// Why it has no time; empty if it has.
[[nodiscard]] std::string error_of(const benchmark::BenchmarkReporter::Run& run);
/// Makes it a run without a time.
void set_error(benchmark::BenchmarkReporter::Run& run, const std::string& error);

struct Repetitions {
    std::string name;
    /// Seconds per iteration, in the order of the repetitions, without failed ones and aggregates.
    std::vector<double> seconds;
    /// Why the first repetition that failed did so, and how many failed; empty if none did.
    std::string error;
    std::size_t failures = 0;
    bool unsettled = false;
};

/// `timed_by_devices`: the names under which benchmarks with device clocks were registered.
[[nodiscard]] Repetitions repetitions_of(const Runs& runs, const std::set<std::string>& timed_by_devices);

/// The median of a counter over the repetitions; empty if they lack it.
[[nodiscard]] std::optional<double> median_counter(const Runs& runs, const std::string& name);

}  // namespace dmlconform::bench

// What Google Benchmark's reporters are given of one benchmark, as numbers.
#pragma once

#include <benchmark/benchmark.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dmlconform::bench {

using Runs = std::vector<benchmark::BenchmarkReporter::Run>;

struct Repetitions {
    std::string name;
    /// For one iteration, in the order of the repetitions. Those that failed are left out, and so are aggregates.
    std::vector<double> seconds;
    /// Why one failed; empty when none did.
    std::string error;
    bool unsettled = false;
};

/// `timed_by_devices`: the names of benchmarks as they were registered.
[[nodiscard]] Repetitions repetitions_of(const Runs& runs, const std::set<std::string>& timed_by_devices);

/// The median of a counter over the repetitions; nothing where they do not have it.
[[nodiscard]] std::optional<double> median_counter(const Runs& runs, const std::string& name);

}  // namespace dmlconform::bench

// What Google Benchmark's reporters are given of one benchmark, as numbers.
#pragma once

#include <benchmark/benchmark.h>

#include <optional>
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

[[nodiscard]] Repetitions repetitions_of(const Runs& runs);

/// The median of a counter over the repetitions; nothing where they do not have it.
[[nodiscard]] std::optional<double> median_counter(const Runs& runs, const std::string& name);

/// Benchmarks of this name are timed by the clock of a device. To be called when they are registered.
void timed_by_device(const std::string& name);

}  // namespace dmlconform::bench

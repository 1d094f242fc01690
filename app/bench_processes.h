// `dmlconform bench --processes N`: runs the same command in N processes, one after another, and merges what they
// measure. Each process times all benchmarks once, so that whatever disturbs the machine for a while does not hit all
// repetitions of one benchmark.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/command.h"

namespace dmlconform::app {

struct BenchProcesses {
    std::size_t count = 1;
    /// Seconds for all processes together.
    std::optional<double> time_budget;
    /// The file for the results; empty: none.
    std::string output;
    /// Whether the command line says how often benchmarks are repeated, and for how long.
    bool has_repetitions = false;
    bool has_min_time = false;
};

/// Returns the exit code.
[[nodiscard]] int bench_in_processes(const BenchProcesses& wanted, const Invocation& invocation);

}  // namespace dmlconform::app

// What the processes of one side of a comparison measured of one benchmark: a time for each, and the conditions.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/bench/benchmark_file.h"

namespace dmlconform::bench {

/// How much more a benchmark may be affected by the conditions than the yardstick, as a power. Measured for times by
/// the processor's clock on a virtual machine that was busy with builds: 0.25 to 0.35 for a product, a copy and a
/// normalisation, where the yardstick's times differed by 20 to 30 %.
inline constexpr double sensitivity = 1;

/// If processes wait for a larger share of the time, nothing is known about how much slower a benchmark with several
/// threads becomes: none of its threads goes on before the last one has ended, and each of them may have to wait.
inline constexpr double most_usual_wait = 0.25;

/// The time that counts of a process: the fastest repetition by the processor's clock, because disturbances only
/// lengthen it, and the median by other clocks.
[[nodiscard]] double time_of_process(const std::vector<double>& repetitions, bool by_processor);

/// For each process of the benchmark.
[[nodiscard]] std::vector<double> times_of_processes(const BenchmarkTimes& times, bool by_processor);

struct ProcessSample {
    /// In seconds, one for each process. If any process settled, only of those that did.
    std::vector<double> times;
    /// How slow the machine was while each of them ran: proportional to the yardstick's time, and to the time that
    /// passes for each second of processor time. Empty for benchmarks without such counters.
    std::vector<double> conditions;
    /// What share of the time each process waited for a processor, in the benchmark in which it waited longest: waits
    /// of threads that a benchmark starts are not known. Empty if waiting does not lengthen the times.
    std::vector<double> waited;
    bool settled = false;
    /// How many processes do not count because they did not settle, although others did.
    std::size_t left_out = 0;

    /// The median of the waits; 0 if they are not known.
    [[nodiscard]] double usual_wait() const;

    /// The standard deviation of the times' logarithms; 0 for fewer than two.
    [[nodiscard]] double deviation() const;
};

using SamplesByName = std::map<std::string, ProcessSample>;

/// The samples of all benchmarks, with all processes of all files.
[[nodiscard]] SamplesByName samples_of(std::span<const BenchmarkFile> files);

/// The same for the nodes of a graph.
[[nodiscard]] SamplesByName samples_of_nodes(std::span<const BenchmarkFile> files, const std::string& benchmark);

/// By what factor the usual conditions of both sides differ: the larger of their medians over the smaller one. 1 if a
/// side has none.
[[nodiscard]] double difference_of_conditions(const ProcessSample& base, const ProcessSample& now);

/// The 90 % quantile of the conditions of both sides over the 10 % quantile. 1 if a side has none.
[[nodiscard]] double range_of_conditions(const ProcessSample& base, const ProcessSample& now);

}  // namespace dmlconform::bench

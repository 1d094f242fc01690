// Benchmark results in Google Benchmark's JSON, from any program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bench/steadiness.h"
#include "engine/core/error.h"

namespace dmlconform::bench {

/// What one process measured of a benchmark.
struct ProcessTimes {
    /// One for each repetition, in order.
    std::vector<double> seconds;
    /// True if the repetitions drifted according to the file.
    bool unsettled = false;
    /// See conditions.h; one value for each repetition, if the file has them.
    std::vector<double> yardstick{};
    std::vector<double> waited{};
    /// For a graph, the times of each node in seconds, one for each of the same repetitions.
    std::map<std::string, std::vector<double>> nodes{};
};

/// One benchmark's times, in seconds per iteration.
struct BenchmarkTimes {
    /// One for each repetition, in order. Only the median for a file that only has aggregates.
    std::vector<double> seconds;
    /// The same by process, in the order of their numbers (the counter "process"). Files of other programs have one.
    std::map<std::int64_t, ProcessTimes> processes{};
    /// Counters by name, one value for each of the same repetitions: bytes_per_second, items_per_second,
    /// operations_per_second, percent_of_roofline, unsettled.
    std::map<std::string, std::vector<double>> counters;
    /// The operator, in files of `dmlconform bench`; otherwise empty.
    std::string label{};
    /// A digest of the descriptor, which distinguishes problems with the same name. Empty in other programs' files.
    std::string descriptor{};

    /// True if the repetitions of every process drifted according to the file.
    [[nodiscard]] bool unsettled() const;
};

/// The counter that says which process a repetition comes from, in files of `bench --processes`.
inline constexpr const char* process_counter = "process";

struct BenchmarkFile {
    /// String and integer members of "context": the date, names of machines, adapters, drivers.
    std::map<std::string, std::string> context;
    /// By name, without Google Benchmark's suffixes for repetitions.
    std::map<std::string, BenchmarkTimes> benchmarks;
};

/// Errors name the file and the member: no JSON, no results of Google Benchmark, times that are none (negative, zero,
/// not finite), units that there are not, or that repetitions of one benchmark do not agree on.
[[nodiscard]] core::Result<BenchmarkFile> read_benchmark_file(const std::string& path);

/// The same for text that was read already.
[[nodiscard]] core::Result<BenchmarkFile> parse_benchmark_file(const std::string& path, std::string_view text);

}  // namespace dmlconform::bench

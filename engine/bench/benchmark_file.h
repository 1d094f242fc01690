// Results in Google Benchmark's JSON, from whatever wrote them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bench/steadiness.h"
#include "engine/core/error.h"

namespace dmlconform::bench {

/// One benchmark's times, in seconds for one iteration.
struct BenchmarkTimes {
    /// One for each repetition, in their order. Of a file with aggregates only: the median alone.
    std::vector<double> seconds;
    /// By name, for the same repetitions where they have them: bytes_per_second, items_per_second,
    /// operations_per_second, percent_of_roofline, unsettled.
    std::map<std::string, std::vector<double>> counters;
    /// What `dmlconform bench` says of it: the operator. Empty in files of others.
    std::string label{};

    /// Whether the repetitions drifted, by what the file says.
    [[nodiscard]] bool unsettled() const { return counters.contains(unsettled_counter); }
};

struct BenchmarkFile {
    /// Text members and whole numbers of "context": the date, names of machines, adapters, drivers.
    std::map<std::string, std::string> context;
    /// By name, without what Google Benchmark appends for repetitions.
    std::map<std::string, BenchmarkTimes> benchmarks;
};

/// Errors name the file and the member: no JSON, no results of Google Benchmark, times that are none (negative, zero,
/// not finite), units that there are not, or that repetitions of one benchmark do not agree on.
[[nodiscard]] core::Result<BenchmarkFile> read_benchmark_file(const std::string& path);

/// The same for text that was read already.
[[nodiscard]] core::Result<BenchmarkFile> parse_benchmark_file(const std::string& path, std::string_view text);

}  // namespace dmlconform::bench

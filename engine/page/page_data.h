// The data of pages and summaries of `dmlconform report`, gathered from result files of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/comparison.h"
#include "engine/core/error.h"
#include "engine/page/graphs.h"
#include "engine/page/totals.h"

namespace dmlconform::page {

using Json = nlohmann::ordered_json;

/// Further failures are counted but not kept.
inline constexpr std::size_t most_failures = 1000;

/// A failure as in the result file.
struct Failure {
    /// Index into PageData::runs.
    std::size_t run = 0;
    std::string data_type;
    Json result;
};

struct RunFile {
    std::string path;
    Json engines;
    std::string started;
    std::string machine;
    /// The words of the command line.
    Json command;
};

struct BenchFile {
    std::string path;
    bench::BenchmarkFile content;
};

/// The one verdict on speed.
struct SlowerBenchmarks {
    std::set<std::string> names;
    /// How many benchmarks were judged, or could not be; 0: none.
    std::size_t of = 0;
    /// Of how many of them it cannot be told.
    std::size_t undecided = 0;
    /// False if there are too few results to tell of any.
    bool tells = false;
    /// How many only the base has.
    std::size_t missing = 0;

    /// The verdict in words; empty if nothing was judged.
    [[nodiscard]] std::string text() const;
};

struct PageData {
    std::string title = "dmlconform";
    std::vector<RunFile> runs;
    Totals totals;
    std::vector<Failure> failures;
    /// Counts all failures, including those that are not kept.
    std::size_t failure_count = 0;
    Graphs graphs;
    std::vector<BenchFile> benches;
    /// The benchmark files to compare with, and the results of the comparison; empty if there are none.
    std::vector<BenchFile> base;
    bench::RunComparison comparison;
    bench::ComparisonSettings settings;
    /// The trends of a history (engine/history/trends.h); null without a history.
    Json trends;
    /// Hashes of engine and case of all results, with the file that has them.
    std::unordered_map<std::uint64_t, std::size_t> seen;

    /// Results are added up; the run's own words are in `runs`. A case that another file has on the same engine,
    /// adapter and driver is an error.
    [[nodiscard]] core::Result<void> add_run(const std::string& path);
    [[nodiscard]] core::Result<void> add_bench(const std::string& path, bool as_base);
    /// Must be called after the last file.
    void compare();
    /// By the comparison with the base, and by the trends.
    [[nodiscard]] SlowerBenchmarks slower() const;
};

/// The type of the first tensor among a descriptor's lines, such as "FLOAT32"; "-" if there is none.
[[nodiscard]] std::string data_type_of(const Json& descriptor_lines);

}  // namespace dmlconform::page

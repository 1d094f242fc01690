// What the pages and summaries of `dmlconform report` show, gathered from result files of any size.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/comparison.h"
#include "engine/core/error.h"
#include "engine/page/totals.h"

namespace dmlconform::page {

using Json = nlohmann::ordered_json;

/// Failures beyond this many are counted, not kept.
inline constexpr std::size_t most_failures = 1000;

/// A failure as it is in the result file.
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
    /// Word by word.
    Json command;
};

struct BenchFile {
    std::string path;
    bench::BenchmarkFile content;
};

struct PageData {
    std::string title = "dmlconform";
    std::vector<RunFile> runs;
    Totals totals;
    std::vector<Failure> failures;
    /// All of them, kept or not.
    std::size_t failure_count = 0;
    std::vector<BenchFile> benches;
    /// What the benches are compared with, and how that came out; empty where there is nothing to compare with.
    std::vector<BenchFile> base;
    bench::RunComparison comparison;
    bench::ComparisonSettings settings;
    /// What engine/history/trends.h makes of a history; null where there is none.
    Json trends;

    /// Results are added up; the run's own words are in `runs`.
    [[nodiscard]] core::Result<void> add_run(const std::string& path);
    [[nodiscard]] core::Result<void> add_bench(const std::string& path, bool as_base);
    /// After the last file.
    void compare();
};

/// "FLOAT32": the type of the first tensor among a descriptor's lines; "-" where there is none.
[[nodiscard]] std::string data_type_of(const Json& descriptor_lines);

}  // namespace dmlconform::page

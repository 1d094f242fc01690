// Tests of engine/bench/benchmark_file: valid and broken results of Google Benchmark.
#include "engine/bench/benchmark_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace dmlconform::bench::benchmark_file_test {
namespace {

/// A file with these entries of "benchmarks".
core::Result<BenchmarkFile> parsed(std::string_view entries) {
    return parse_benchmark_file("r.json", fmt::format(R"({{"context": {{"num_cpus": 2, "host_name": "a",
        "dmlconform.machine": "M"}}, "benchmarks": [{}]}})",
                                                      entries));
}

TEST(BenchmarkFile, TimesOfTheNodesOfAGraph) {
    const auto file = parsed(R"(
        {"name": "net", "real_time": 9, "time_unit": "us", "node conv/1 µs": 6, "node conv/1 %": 75, "node relu µs": 2},
        {"name": "net", "real_time": 9, "time_unit": "us", "node conv/1 µs": 7, "node relu µs": 0, "node  µs": 1})");
    ASSERT_TRUE(file) << file.error().message;
    const auto& nodes = file->benchmarks.at("net").processes.at(0).nodes;
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes.at("conv/1"), (std::vector<double>{6e-6, 7e-6}));
    EXPECT_EQ(nodes.at("relu"), std::vector<double>{2e-6}) << "0 is not a time";
}

TEST(BenchmarkFile, RepetitionsAndUnits) {
    const auto file = parsed(R"(
        {"name": "a/repeats:2", "run_name": "a", "run_type": "iteration", "real_time": 2.5, "time_unit": "us"},
        {"name": "a/repeats:2", "run_name": "a", "run_type": "iteration", "real_time": 3000, "time_unit": "us", "percent_of_roofline": 40},
        {"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median", "real_time": 9, "time_unit": "us"},
        {"name": "b", "real_time": 4, "time_unit": "ns"},
        {"name": "c", "real_time": 5, "time_unit": "s"})");
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_EQ(file->benchmarks.size(), 3u);
    const auto times = [&](const char* name) { return file->benchmarks.at(name).seconds; };
    ASSERT_EQ(times("a").size(), 2u) << "single runs tell more than their median";
    EXPECT_DOUBLE_EQ(times("a")[0], 2.5e-6);
    EXPECT_DOUBLE_EQ(times("a")[1], 3e-3);
    EXPECT_EQ(file->benchmarks.at("a").counters.at("percent_of_roofline"), std::vector<double>{40});
    EXPECT_DOUBLE_EQ(times("b").at(0), 4e-9);
    EXPECT_DOUBLE_EQ(times("c").at(0), 5);
    EXPECT_EQ(file->context.at("num_cpus"), "2");
    EXPECT_EQ(file->context.at("dmlconform.machine"), "M");
}

TEST(BenchmarkFile, AggregatesAlone) {
    const auto file = parsed(R"(
        {"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 8, "time_unit": "us"},
        {"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median", "real_time": 9, "time_unit": "us"},
        {"name": "a_cv", "run_name": "a", "run_type": "aggregate", "aggregate_name": "cv", "aggregate_unit": "percentage", "real_time": 0.1, "time_unit": "us"})");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->benchmarks.at("a").seconds, std::vector<double>{9e-6});
}

TEST(BenchmarkFile, WhatFailedHasNoTime) {
    const auto file = parsed(R"(
        {"name": "a", "real_time": 1, "time_unit": "us"},
        {"name": "b", "error_occurred": true, "error_message": "lost", "real_time": 0, "time_unit": "us"})");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->benchmarks.size(), 1u);
}

TEST(BenchmarkFile, BadOnes) {
    struct Row {
        std::string_view text;
        std::string_view message;
    };
    const Row rows[] = {
        {"", "r.json: this is not JSON"},
        {R"({"benchmarks": [{"name": "a", )", "r.json: this is not JSON"},
        {"[]", "r.json: no results of Google Benchmark"},
        {R"({"results": []})", "r.json: no results of Google Benchmark"},
        {R"({"benchmarks": []})", "r.json: there are no times in it"},
        {R"({"benchmarks": [{"name": "a", "real_time": 1, "real_time": 2, "time_unit": "us"}]})",
         "r.json: /benchmarks/0: the key \"real_time\" occurs twice"},
        {R"({"benchmarks": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[)",
         "r.json: /benchmarks/0: more than 64 levels of nesting"},
        {R"({"benchmarks": [3]})", "r.json: /benchmarks/0/: this is not an object"},
        {R"({"benchmarks": [{"real_time": 1, "time_unit": "us"}]})", "r.json: /benchmarks/0/name: a text is missing"},
        {R"({"benchmarks": [{"name": "a", "real_time": 1}]})", "r.json: /benchmarks/0/time_unit: a text is missing"},
        {R"({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "h"}]})",
         "r.json: /benchmarks/0/time_unit: there is no unit \"h\""},
        {R"({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "us"}, {"name": "a", "real_time": 1, "time_unit": "ms"}]})",
         "r.json: /benchmarks/1/time_unit: \"ms\", but what came before of a is in \"us\""},
        {R"({"benchmarks": [{"name": "a", "time_unit": "us"}]})",
         "r.json: /benchmarks/0/real_time: a number is missing"},
        {R"({"benchmarks": [{"name": "a", "real_time": "1", "time_unit": "us"}]})",
         "r.json: /benchmarks/0/real_time: a number is missing"},
        {R"({"benchmarks": [{"name": "a", "real_time": 0, "time_unit": "us"}]})",
         "r.json: /benchmarks/0/real_time: 0 is not a time"},
        {R"({"benchmarks": [{"name": "a", "real_time": -1.5, "time_unit": "us"}]})",
         "r.json: /benchmarks/0/real_time: -1.5 is not a time"},
        {R"({"benchmarks": [{"name": "a", "real_time": NaN, "time_unit": "us"}]})", "r.json: this is not JSON"},
        {R"({"benchmarks": [{"name": "a", "real_time": 1e999, "time_unit": "us"}]})", "r.json: this is not JSON"},
    };
    for (const Row& row : rows) {
        const auto file = parse_benchmark_file("r.json", row.text);
        ASSERT_FALSE(file) << row.text;
        EXPECT_TRUE(file.error().message.starts_with(row.message)) << file.error().message;
    }
}

TEST(BenchmarkFile, Unreadable) {
    const tests::TemporaryFolder folder;
    for (const std::string& path : {folder.at("none.json"), folder.at("")}) {
        EXPECT_FALSE(read_benchmark_file(path)) << path;
    }
}

}  // namespace
}  // namespace dmlconform::bench::benchmark_file_test

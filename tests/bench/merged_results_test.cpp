// Tests of engine/bench/merged_results: results of several processes in one file.
#include "engine/bench/merged_results.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/process_sample.h"
#include "engine/report/text_table.h"

namespace dmlconform::bench::merged_results_test {
namespace {

/// What a process writes: two repetitions of a benchmark, in microseconds, and an aggregate.
std::string results(double first, double second, const std::string& more = "") {
    const auto entry = [&](double time) {
        return R"({"name": "cpu/a", "run_name": "cpu/a", "run_type": "iteration", "repetitions": 2, "threads": 1,)"
               R"( "iterations": 5, "real_time": )" +
               std::to_string(time) + R"(, "cpu_time": 1, "time_unit": "us", "label": "ADD 01", "yardstick": 2)" +
               more + "}";
    };
    return R"({"context": {"dmlconform.machine": "M", "num_cpus": 2}, "benchmarks": [)" + entry(first) + "," +
           entry(second) + R"(, {"name": "cpu/a_mean", "run_name": "cpu/a", "run_type": "aggregate",)" +
           R"( "aggregate_name": "mean", "real_time": 1, "time_unit": "us"}]})";
}

TEST(MergedResults, KeepWhichProcessMeasuredWhat) {
    MergedResults merged;
    ASSERT_TRUE(merged.add(results(10, 12)));
    ASSERT_TRUE(merged.add(results(20, 22)));
    EXPECT_EQ(merged.processes(), 2u);
    EXPECT_EQ(merged.benchmarks(), 1u);
    const auto file = parse_benchmark_file("merged.json", merged.document());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->context.at("dmlconform.machine"), "M");
    EXPECT_EQ(file->context.at("dmlconform.processes"), "2");
    const BenchmarkTimes& times = file->benchmarks.at("cpu/a");
    EXPECT_EQ(times.seconds.size(), 4u);
    EXPECT_EQ(times.label, "ADD");
    ASSERT_EQ(times.processes.size(), 2u);
    EXPECT_EQ(times.processes.at(1).yardstick.size(), 2u);
    const auto medians = times_of_processes(times, false);
    EXPECT_NEAR(medians[0], 11e-6, 1e-12);
    EXPECT_NEAR(medians[1], 21e-6, 1e-12);
}

TEST(MergedResults, HaveTheStatisticsOfAllRepetitions) {
    MergedResults merged;
    ASSERT_TRUE(merged.add(results(10, 12)));
    ASSERT_TRUE(merged.add(results(20, 22)));
    const auto document = nlohmann::json::parse(merged.document());
    std::map<std::string, double> aggregates;
    for (const auto& entry : document["benchmarks"]) {
        if (entry["run_type"] == "aggregate") {
            aggregates[entry["aggregate_name"]] = entry["real_time"];
        }
    }
    EXPECT_DOUBLE_EQ(aggregates.at("mean"), 16);
    EXPECT_DOUBLE_EQ(aggregates.at("median"), 16);
    // The squares of 6, 4, 4 and 6 are 104, and a third of that is the variance.
    EXPECT_NEAR(aggregates.at("stddev"), 5.8878, 1e-4);
    EXPECT_NEAR(aggregates.at("cv"), 0.36799, 1e-4);
    EXPECT_EQ(document["benchmarks"].size(), 8u);
    EXPECT_EQ(document["benchmarks"][3]["repetition_index"], 3);
    EXPECT_EQ(document["benchmarks"][3]["repetitions"], 4);
}

TEST(MergedResults, MarkProcessesThatDrift) {
    MergedResults steady;
    MergedResults drifting;
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(steady.add(results(100 + i % 3, 100 + i % 3)));
        ASSERT_TRUE(drifting.add(results(100 + 2 * i, 100 + 2 * i)));
    }
    EXPECT_FALSE(parse_benchmark_file("s", steady.document())->benchmarks.at("cpu/a").unsettled());
    EXPECT_TRUE(parse_benchmark_file("d", drifting.document())->benchmarks.at("cpu/a").unsettled());
}

TEST(MergedResults, AreATableOfProcesses) {
    MergedResults merged;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(merged.add(results(100, 100, R"(, "waited": 0.3)")));
    }
    const std::string table = merged.table(0);
    EXPECT_NE(table.find("cpu/a"), std::string::npos) << table;
    EXPECT_NE(table.find("100 µs"), std::string::npos) << table;
    EXPECT_NE(table.find("disturbed"), std::string::npos) << table;
    EXPECT_NE(table.find("up to 30% of the time was waiting"), std::string::npos) << table;
}

/// What a process writes in which the benchmark failed. Google Benchmark gives it a time of 0.
std::string failure(const std::string& message) {
    return R"({"context": {}, "benchmarks": [{"name": "cpu/a", "run_name": "cpu/a", "run_type": "iteration",)"
           R"( "error_occurred": true, "error_message": ")" +
           message + R"(", "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "us"}]})";
}

TEST(MergedResults, AFailureIsNoTime) {
    MergedResults merged;
    ASSERT_TRUE(merged.add(failure("first")));
    ASSERT_TRUE(merged.add(results(100, 100)));
    ASSERT_TRUE(merged.add(failure("second")));
    EXPECT_EQ(merged.timed(), 1u);
    const std::string table = merged.table(0);
    EXPECT_NE(table.find(" 100 µs "), std::string::npos) << table;
    EXPECT_NE(table.find("\n    failed in 2 of 3 processes: first\n"), std::string::npos) << table;
    const auto document = nlohmann::json::parse(merged.document());
    for (const auto& entry : document["benchmarks"]) {
        if (entry["run_type"] == "aggregate" && entry["aggregate_unit"] == "time") {
            EXPECT_EQ(entry["repetitions"], 2) << entry;
            EXPECT_EQ(entry["label"], "ADD 01") << entry;
            EXPECT_EQ(entry["real_time"], entry["aggregate_name"] == "stddev" ? 0 : 100) << entry;
        }
    }
    const auto file = parse_benchmark_file("merged.json", merged.document());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->benchmarks.at("cpu/a").processes.size(), 1u);
}

TEST(MergedResults, OnlyFailures) {
    MergedResults merged;
    ASSERT_TRUE(merged.add(failure("broken")));
    ASSERT_TRUE(merged.add(failure("broken")));
    EXPECT_EQ(merged.benchmarks(), 1u);
    EXPECT_EQ(merged.timed(), 0u);
    EXPECT_NE(merged.table(0).find(" failed in 2 of 2 processes: broken\n"), std::string::npos) << merged.table(0);
    EXPECT_EQ(nlohmann::json::parse(merged.document())["benchmarks"].size(), 2u) << "no aggregates";
}

/// A process may fail after it has measured something.
TEST(MergedResults, AProcessWithAFailureAndATimeIsOne) {
    MergedResults merged;
    ASSERT_TRUE(merged.add(results(100, 100)));
    ASSERT_TRUE(merged.add(results(0, 200, R"(, "error_occurred": true, "error_message": "late")")));
    ASSERT_TRUE(merged.add(results(100, 100)));
    EXPECT_NE(merged.table(0).find("failed in 1 of 3 processes: late"), std::string::npos) << merged.table(0);
}

/// The longest line of a text.
std::size_t width_of(const std::string& text) {
    std::size_t longest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        longest = std::max(longest, report::characters_in(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return longest;
}

TEST(MergedResults, NotesFit80Columns) {
    MergedResults merged;
    MergedResults drifting;
    for (int i = 0; i < 10; ++i) {
        // Other processes, another speed of the processor, and scatter.
        const std::string conditions = fmt::format(R"(, "waited": 0.999, "yardstick": {})", i % 2 == 0 ? 1 : 900);
        ASSERT_TRUE(merged.add(results(100 + 900 * (i % 2), 100, conditions)));
        ASSERT_TRUE(drifting.add(results(100 + 20 * i, 100 + 20 * i)));
    }
    const std::string table = merged.table(80);
    EXPECT_NE(table.find("The benchmark was disturbed:"), std::string::npos) << table;
    EXPECT_NE(table.find("The benchmark is noisy:"), std::string::npos) << table;
    EXPECT_NE(table.find("speed changed by up to"), std::string::npos) << table;
    EXPECT_LE(width_of(table), 80u) << table;
    EXPECT_NE(drifting.table(80).find("The benchmark did not settle"), std::string::npos) << drifting.table(80);
    EXPECT_LE(width_of(drifting.table(80)), 80u) << drifting.table(80);
}

TEST(MergedResults, TwoProcessesHaveNoSpread) {
    MergedResults merged;
    ASSERT_TRUE(merged.add(results(100, 100)));
    ASSERT_TRUE(merged.add(results(200, 200)));
    EXPECT_EQ(merged.table(0).find("noisy"), std::string::npos) << merged.table(0);
    ASSERT_TRUE(merged.add(results(300, 300)));
    EXPECT_NE(merged.table(0).find("noisy"), std::string::npos) << merged.table(0);
}

TEST(MergedResults, RejectsWhatIsNoResult) {
    MergedResults merged;
    EXPECT_FALSE(merged.add(""));
    EXPECT_FALSE(merged.add("[]"));
    EXPECT_FALSE(merged.add(R"({"benchmarks": 1})"));
    EXPECT_TRUE(merged.add(R"({"benchmarks": [1, {"run_name": 1}, {"run_name": "a"}]})"));
    EXPECT_EQ(merged.processes(), 1u);
}

TEST(BenchmarkFile, NumbersOfProcessesAreChecked) {
    for (const char* wrong : {"-1", "0.5", "\"a\"", "1e9", "null"}) {
        const auto file = parse_benchmark_file(
            "f.json", std::string(R"({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "us", "process": )") +
                          wrong + "}]}");
        ASSERT_FALSE(file) << wrong;
        EXPECT_NE(file.error().message.find("/benchmarks/0/process: "), std::string::npos) << file.error().message;
    }
}

}  // namespace
}  // namespace dmlconform::bench::merged_results_test

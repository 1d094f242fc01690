// Tests of engine/bench/comparison: which differences are slowdowns and which are noise.
#include "engine/bench/comparison.h"

#include <gtest/gtest.h>

#include <map>

namespace dmlconform::bench::comparison_test {
namespace {

/// Nine repetitions around a time, at most `scatter` apart, in an arbitrary order.
std::vector<double> around(double seconds, double scatter) {
    std::vector<double> times;
    for (const double step : {0.1, -0.9, 0.5, -0.3, 1.0, -0.6, 0.0, 0.7, -0.1}) {
        times.push_back(seconds * (1 + scatter * step));
    }
    return times;
}

BenchmarkFile file_of(const std::map<std::string, std::vector<double>>& benchmarks) {
    BenchmarkFile file;
    for (const auto& [name, times] : benchmarks) {
        file.benchmarks[name].seconds = times;
    }
    return file;
}

Change change_between(const std::vector<double>& base, const std::vector<double>& now, double threshold = 0.05) {
    return compare_runs(file_of({{"a", base}}), file_of({{"a", now}}), {.threshold = threshold})
        .benchmarks.at(0)
        .change;
}

TEST(CompareRuns, Verdicts) {
    const auto base = around(1e-3, 0.01);
    EXPECT_EQ(change_between(base, base), Change::none);
    EXPECT_EQ(change_between(base, around(1.1e-3, 0.01)), Change::slower);
    EXPECT_EQ(change_between(base, around(0.9e-3, 0.01)), Change::faster);
    EXPECT_EQ(change_between(base, around(1.04e-3, 0.001)), Change::none) << "significant, but within the threshold";
    EXPECT_EQ(change_between(base, around(1.04e-3, 0.001), 0.03), Change::slower);
    EXPECT_EQ(change_between(base, around(1.1e-3, 0.5)), Change::unreliable) << "scatters more than it differs";
    EXPECT_EQ(change_between(around(1e-3, 0.5), around(1.1e-3, 0.01)), Change::unreliable);
    EXPECT_EQ(change_between(around(1e-3, 0.2), around(10e-3, 0.2)), Change::slower) << "scattered, but far apart";
    EXPECT_EQ(change_between(base, around(0.951e-3, 0.001)), Change::faster) << "the base is 5.2 % slower";
    EXPECT_EQ(change_between({1e-3}, {2e-3}), Change::too_few) << "single runs prove nothing";
    EXPECT_EQ(change_between({1, 1, 1}, {3, 3, 3}), Change::too_few) << "one of 20 mixtures, in either direction";
    EXPECT_EQ(change_between({1, 1, 1, 1}, {3, 3, 3, 3}), Change::slower);
}

TEST(CompareRuns, SaysWhichNodesOfAGraphBecameSlower) {
    BenchmarkFile base = file_of({{"net", around(10e-3, 0.01)}});
    BenchmarkFile now = file_of({{"net", around(12e-3, 0.01)}});
    base.benchmarks["net"].nodes = {{"conv", around(6e-3, 0.01)}, {"relu", around(1e-3, 0.01)}, {"gone", {1}}};
    now.benchmarks["net"].nodes = {{"conv", around(8e-3, 0.01)}, {"relu", around(1e-3, 0.01)}, {"new", {1}}};
    const auto nodes = compare_runs(base, now, {}).benchmarks.at(0).nodes;
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes[0].name, "conv");
    EXPECT_EQ(nodes[0].change, Change::slower);
    EXPECT_NEAR(nodes[0].ratio, 8.0 / 6, 1e-9);
    EXPECT_EQ(nodes[1].name, "relu");
    EXPECT_EQ(nodes[1].change, Change::none);
}

TEST(CompareRuns, WhatDidNotSettleIsNotCompared) {
    const auto base = file_of({{"a", around(1, 0.01)}});
    const auto slower = file_of({{"a", around(2, 0.01)}});
    BenchmarkFile drifting = slower;
    drifting.benchmarks["a"].counters["unsettled"] = {1};
    const auto change = [](const std::vector<BenchmarkFile>& before, const std::vector<BenchmarkFile>& after) {
        return compare_runs(before, after, {}).benchmarks.at(0).change;
    };
    EXPECT_EQ(change({base}, {slower}), Change::slower);
    EXPECT_EQ(change({base}, {drifting}), Change::unreliable);
    EXPECT_EQ(change({drifting}, {base}), Change::unreliable);
    EXPECT_EQ(change({drifting}, {drifting}), Change::unreliable) << "even if nothing differs";
    EXPECT_EQ(change({base}, {drifting, base, drifting}), Change::none) << "one run in which it settled is enough";
}

/// Runs of one benchmark whose repetitions scatter by 1 % around these times.
std::vector<BenchmarkFile> runs_around(const std::vector<double>& times) {
    std::vector<BenchmarkFile> runs;
    for (const double time : times) {
        runs.push_back(file_of({{"a", around(time, 0.01)}}));
    }
    return runs;
}

TEST(CompareRuns, RunsCountRatherThanTheirRepetitions) {
    const std::vector<double> calm{1, 1.01, 0.99, 1, 1.02};
    const auto change = [&](const std::vector<double>& now) {
        return compare_runs(runs_around(calm), runs_around(now), {}).benchmarks.at(0).change;
    };
    EXPECT_EQ(change({1, 1.02, 1.01, 0.99, 1}), Change::none);
    EXPECT_EQ(change({1.1, 1.11, 1.09, 1.1, 1.12}), Change::slower);
    EXPECT_EQ(change({1, 1.01, 1.3, 1, 1.02}), Change::none) << "one disturbed run";
    EXPECT_EQ(change({1, 1.08, 1.09, 1.1, 0.99}), Change::unreliable) << "runs that disagree, though each is calm";
    // With too few runs, all repetitions count as separate samples.
    EXPECT_EQ(compare_runs(runs_around({1, 1}), runs_around({1.1, 1.1}), {}).benchmarks.at(0).change, Change::slower);
    EXPECT_EQ(compare_runs(runs_around(calm), runs_around({1.2}), {}).benchmarks.at(0).change, Change::slower)
        << "on either side";
}

TEST(CompareRuns, PairsForgetWhatDisturbedBoth) {
    // A machine that is up to 1.5 times as slow now and then, for longer than one pair of runs.
    const std::vector<double> moods{1, 1, 1.5, 1.5, 1.5, 1, 1.3, 1.2, 1, 1.5};
    const auto compared = [&](const std::vector<double>& factors, bool paired = true) {
        std::vector<double> now;
        for (std::size_t i = 0; i < moods.size(); ++i) {
            now.push_back(moods[i] * factors[i]);
        }
        return compare_runs(runs_around(moods), runs_around(now), {.paired = paired}).benchmarks.at(0);
    };
    const std::vector<double> slower{1.1, 1.09, 1.11, 1.1, 1.08, 1.12, 1.1, 1.1, 1.09, 1.11};
    EXPECT_EQ(compared(slower).change, Change::slower);
    EXPECT_NEAR(compared(slower).ratio, 1.1, 1e-12);
    EXPECT_LT(compared(slower).spread, 0.01);
    EXPECT_EQ(compared(slower, false).change, Change::unreliable) << "what pairs are for";
    EXPECT_EQ(compared({1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 0.99, 1, 1}).change, Change::none);
    EXPECT_EQ(compared({1.6, 1.6, 1, 1, 1, 1, 1, 1, 1, 1}).change, Change::none) << "two disturbed runs";
    EXPECT_EQ(compared({1.3, 0.8, 1.4, 0.9, 1.1, 1.3, 1, 0.8, 1.5, 1.1}).change, Change::unreliable);
    // Always slower than the threshold, but by widely different factors.
    EXPECT_EQ(compared({1.01, 1.01, 1.02, 1.02, 1.05, 1.4, 1.6, 1.8, 2, 2.2}).change, Change::unreliable);
}

TEST(CompareRuns, PairsNeedTheBenchmarkInBoth) {
    const BenchmarkFile both = file_of({{"a", {1}}, {"b", {1}}});
    const BenchmarkFile one = file_of({{"a", {1}}});
    const auto comparison =
        compare_runs(std::vector<BenchmarkFile>{both, one, one, one, one, one},
                     std::vector<BenchmarkFile>{one, both, both, both, both, both}, {.paired = true});
    ASSERT_EQ(comparison.benchmarks.size(), 2u);
    EXPECT_EQ(comparison.benchmarks[0].p, 1);
    EXPECT_TRUE(comparison.missing.empty());
}

TEST(CompareRuns, OrderAndNames) {
    const auto comparison = compare_runs(
        file_of({{"same", around(1, 0.01)}, {"slower", around(1, 0.01)}, {"gone", {1}}, {"faster", around(1, 0.01)}}),
        file_of({{"same", around(1, 0.01)}, {"slower", around(2, 0.01)}, {"new", {1}}, {"faster", around(0.5, 0.01)}}),
        {});
    ASSERT_EQ(comparison.benchmarks.size(), 3u);
    EXPECT_EQ(comparison.benchmarks[0].name, "slower");
    EXPECT_NEAR(comparison.benchmarks[0].ratio, 2, 1e-12);
    EXPECT_EQ(comparison.benchmarks[1].name, "same");
    EXPECT_EQ(comparison.benchmarks[2].name, "faster");
    EXPECT_EQ(comparison.missing, std::vector<std::string>{"gone"});
    EXPECT_EQ(comparison.added, std::vector<std::string>{"new"});
    EXPECT_TRUE(comparison.regressed());
    EXPECT_TRUE(comparison.differences.empty());
}

TEST(CompareRuns, OtherPlaces) {
    BenchmarkFile base = file_of({{"a", {1}}});
    BenchmarkFile now = base;
    base.context = {{"dmlconform.machine", "M"}, {"dmlconform.d3d12.adapter", "X"}, {"host_name", "a"}, {"date", "1"}};
    now.context = base.context;
    now.context["host_name"] = "b";
    now.context["date"] = "2";
    EXPECT_TRUE(compare_runs(base, now, {}).differences.empty()) << "containers have names of their own";
    base.context["dmlconform.d3d12.driver"] = "1";
    now.context["dmlconform.d3d12.driver"] = "2";
    EXPECT_EQ(compare_runs(base, now, {}).differences, std::vector<std::string>{"dmlconform.d3d12.driver: 1 and 2"});
    now.context["dmlconform.d3d12.driver"] = "1";
    now.context["dmlconform.d3d12.adapter"] = "Y";
    now.context["dmlconform.machine"] = "N";
    EXPECT_EQ(compare_runs(base, now, {}).differences,
              (std::vector<std::string>{"dmlconform.d3d12.adapter: X and Y", "dmlconform.machine: M and N"}));
}

}  // namespace
}  // namespace dmlconform::bench::comparison_test

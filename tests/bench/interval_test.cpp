// Tests of confidence intervals of ratios, and of geometric means (engine/bench/rank_test and comparison).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/bench/comparison.h"

namespace dmlconform::bench::interval_test {
namespace {

TEST(Interval, ShiftOfSmallSamplesByTables) {
    // By Bauer's table for the Mann-Whitney test, the 95 % interval for samples of 5 and 5 begins at the third smallest
    // of the 25 differences.
    const std::vector<double> a{0, 0.1, 0.2, 0.3, 0.4};
    std::vector<double> b;
    for (const double x : a) {
        b.push_back(x + 10);
    }
    std::vector<double> differences;
    for (const double x : a) {
        for (const double y : b) {
            differences.push_back(y - x);
        }
    }
    std::sort(differences.begin(), differences.end());
    const Interval interval = shift_interval(a, b, 0.95);
    EXPECT_DOUBLE_EQ(interval.least, differences[2]);
    EXPECT_DOUBLE_EQ(interval.greatest, differences[differences.size() - 3]);
}

TEST(Interval, MedianByTables) {
    // For ten values, the 95 % interval goes from the second to the ninth.
    const std::vector<double> sample{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const Interval interval = median_interval(sample, 0.95);
    EXPECT_EQ(interval.least, 2);
    EXPECT_EQ(interval.greatest, 9);
}

TEST(Interval, TooFewSayNothing) {
    const std::vector<double> few{1, 2, 3};
    EXPECT_TRUE(std::isinf(shift_interval(few, few, 0.95).greatest));
    EXPECT_TRUE(std::isinf(shift_interval({}, few, 0.95).greatest));
    EXPECT_TRUE(std::isinf(median_interval(few, 0.95).least));
    EXPECT_TRUE(std::isinf(median_interval({}, 0.95).least));
}

/// In repeated trials with a known shift, at least 95 % of the intervals less three standard deviations must contain
/// it.
TEST(Interval, HoldsTheTruthAsOftenAsItSays) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(0, 1);
    for (const std::size_t size : {std::size_t{9}, std::size_t{40}}) {
        constexpr int trials = 400;
        int held = 0;
        int median_held = 0;
        for (int trial = 0; trial < trials; ++trial) {
            std::vector<double> a;
            std::vector<double> b;
            for (std::size_t i = 0; i < size; ++i) {
                a.push_back(noise(random));
                b.push_back(noise(random) + 0.5);
            }
            const Interval shift = shift_interval(a, b, 0.95);
            held += shift.least <= 0.5 && shift.greatest >= 0.5 ? 1 : 0;
            const Interval middle = median_interval(b, 0.95);
            median_held += middle.least <= 0.5 && middle.greatest >= 0.5 ? 1 : 0;
        }
        EXPECT_GE(held, 367) << size;
        EXPECT_LT(held, trials) << "an interval that is always right is too wide";
        EXPECT_GE(median_held, 367) << size;
    }
}

TEST(MeanRatio, IsGeometricAndByOperator) {
    BenchmarkFile base;
    BenchmarkFile now;
    const struct {
        const char* name;
        const char* op;
        double ratio;
    } rows[] = {{"a", "ADD", 2}, {"b", "ADD", 0.5}, {"c", "GEMM", 1.1}, {"d", "", 3}};
    for (const auto& row : rows) {
        base.benchmarks[row.name].processes[0].seconds = {1};
        now.benchmarks[row.name].processes[0].seconds = {row.ratio};
        now.benchmarks[row.name].label = row.op;
    }
    const RunComparison comparison = compare_runs(base, now, {});
    EXPECT_NEAR(comparison.mean().ratio, std::pow(3.3, 0.25), 1e-12);
    EXPECT_EQ(comparison.mean().benchmarks, 4u);
    const auto means = comparison.mean_by_operator();
    ASSERT_EQ(means.size(), 2u);
    EXPECT_NEAR(means.at("ADD").ratio, 1, 1e-12);
    EXPECT_EQ(means.at("ADD").benchmarks, 2u);
    EXPECT_NEAR(means.at("GEMM").ratio, 1.1, 1e-12);
}

}  // namespace
}  // namespace dmlconform::bench::interval_test

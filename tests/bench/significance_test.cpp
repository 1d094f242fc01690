// Tests of engine/bench/significance by published tables, and by how often corrected p-values are small by chance.
#include "engine/bench/significance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace dmlconform::bench::significance_test {
namespace {

TEST(Student, QuantilesByTables) {
    // The usual table of two-sided quantiles.
    const struct {
        double freedom;
        double p;
        double t;
    } rows[] = {{1, 0.05, 12.706},  {2, 0.05, 4.303},  {5, 0.05, 2.571},   {10, 0.05, 2.228}, {30, 0.05, 2.042},
                {1, 0.001, 636.62}, {5, 0.001, 6.869}, {10, 0.001, 4.587}, {60, 0.001, 3.460}};
    for (const auto& row : rows) {
        // The quantiles are rounded to about four digits.
        EXPECT_NEAR(student_p(row.t, row.freedom), row.p, 0.001 * row.p) << row.freedom << " " << row.t;
        EXPECT_DOUBLE_EQ(student_p(-row.t, row.freedom), student_p(row.t, row.freedom));
    }
    EXPECT_DOUBLE_EQ(student_p(0, 5), 1);
    EXPECT_EQ(student_p(std::numeric_limits<double>::infinity(), 5), 0);
    // With one degree of freedom, Student's distribution is Cauchy's. With two, there is a formula.
    for (const double t : {0.01, 0.5, 1.0, 3.0, 100.0}) {
        EXPECT_NEAR(student_p(t, 1), 1 - 2 / M_PI * std::atan(t), 1e-12) << t;
        EXPECT_NEAR(student_p(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-12) << t;
    }
}

TEST(CorrectForNumber, IsHolms) {
    // The smallest of four times 4, the next one times 3, and never smaller than what is before it.
    const auto corrected = correct_for_number(std::vector<double>{0.02, 0.01, 0.9, 0.021});
    ASSERT_EQ(corrected.size(), 4u);
    EXPECT_DOUBLE_EQ(corrected[1], 0.04);
    EXPECT_DOUBLE_EQ(corrected[0], 0.06);
    EXPECT_DOUBLE_EQ(corrected[3], 0.06) << "2 times 0.021 is less";
    EXPECT_DOUBLE_EQ(corrected[2], 0.9);
    EXPECT_TRUE(correct_for_number({}).empty());
    EXPECT_DOUBLE_EQ(correct_for_number(std::vector<double>{0.7, 0.8})[0], 1);
}

TEST(CorrectForNumber, HoldsForTheWholeFamily) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    constexpr int trials = 2000;
    constexpr double level = 0.05;
    int wrong = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> p(50);
        std::ranges::generate(p, [&] { return uniform(random); });
        wrong += std::ranges::min(correct_for_number(p)) < level ? 1 : 0;
    }
    // 100 are expected, with a standard deviation of 9.7.
    EXPECT_LT(wrong, 130);
    EXPECT_GT(wrong, 60) << "a correction that is too strict finds nothing";
}

}  // namespace
}  // namespace dmlconform::bench::significance_test

// Tests of engine/bench/rank_test: p-values are compared with tables and with values that were derived by hand.
#include "engine/bench/rank_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace dmlconform::bench::rank_test_test {
namespace {

TEST(MannWhitney, ExactValues) {
    struct Row {
        std::vector<double> a;
        std::vector<double> b;
        double p;
    };
    // Expected values by counting arrangements: 20 of 3 and 3 elements, 70 of 4 and 4, 21 of 2 and 5.
    const Row rows[] = {
        {{1, 2, 3}, {4, 5, 6}, 2.0 / 20},        // U = 0
        {{1, 2, 4}, {3, 5, 6}, 4.0 / 20},        // U = 1
        {{1, 2, 3, 4}, {5, 6, 7, 8}, 2.0 / 70},  // U = 0
        {{1, 2, 3, 5}, {4, 6, 7, 8}, 4.0 / 70},  // U = 1
        // U = 4: the numbers of arrangements with U = 0, 1, 2, 3, 4
        {{1, 2, 5, 6}, {3, 4, 7, 8}, 2.0 * (1 + 1 + 2 + 3 + 5) / 70},
        {{6, 7}, {1, 2, 3, 4, 5}, 2.0 / 21},
        {{1}, {2}, 1},
    };
    for (const Row& row : rows) {
        EXPECT_NEAR(mann_whitney_p(row.a, row.b), row.p, 1e-12);
        EXPECT_DOUBLE_EQ(mann_whitney_p(row.a, row.b), mann_whitney_p(row.b, row.a));
    }
}

TEST(MannWhitney, NineAndNine) {
    // Nine and nine values, the default of `bench`: 48620 arrangements.
    std::vector<double> low;
    std::vector<double> high;
    for (int i = 0; i < 9; ++i) {
        low.push_back(i);
        high.push_back(i + 100);
    }
    EXPECT_NEAR(mann_whitney_p(low, high), 2.0 / 48620, 1e-15);
}

TEST(MannWhitney, TiesAndManyElements) {
    EXPECT_EQ(mann_whitney_p(std::vector<double>(5, 1), std::vector<double>(5, 1)), 1);
    // The ranks of the first sample sum up to 12.5. Of the 70 ways to choose four of the ranks 1, 3, 3, 3, 5.5, 5.5, 7,
    // 8, these sums are not larger: 1, 3, 3, 3 (1 way) and 1, 3, 3, 5.5 (6 ways).
    EXPECT_NEAR(mann_whitney_p(std::vector<double>{1, 2, 2, 3}, std::vector<double>{2, 3, 4, 5}), 2 * 7.0 / 70, 1e-12);
    // One of 20 ways is as uneven as this.
    EXPECT_NEAR(mann_whitney_p(std::vector<double>{1, 1, 2}, std::vector<double>{3, 3, 4}), 2.0 / 20, 1e-12);
    EXPECT_NEAR(mann_whitney_p(std::vector<double>{3, 3, 4}, std::vector<double>{1, 1, 2}), 2.0 / 20, 1e-12);
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < 100; ++i) {
        a.push_back(i);
        b.push_back(i + 0.5);
    }
    EXPECT_GT(mann_whitney_p(a, b), 0.5);
    for (double& x : b) {
        x += 50;
    }
    EXPECT_LT(mann_whitney_p(a, b), 1e-6);
}

TEST(Sign, ExactValues) {
    // By counting: 5 differences can have 32 combinations of signs.
    EXPECT_NEAR(sign_p(std::vector<double>{1, 2, 3, 4, 5}), 2.0 / 32, 1e-12);
    EXPECT_NEAR(sign_p(std::vector<double>{-1, -1, -1, -1, -1}), 2.0 / 32, 1e-12);
    EXPECT_NEAR(sign_p(std::vector<double>{0, 1, 2, -1000, 0, 4, 5}), 2.0 * (1 + 5) / 32, 1e-12);
    EXPECT_NEAR(sign_p(std::vector<double>{1, 2, -3, 4, -5}), 1, 1e-12);
    EXPECT_NEAR(sign_p(std::vector<double>{3}), 1, 1e-12);
    EXPECT_EQ(sign_p(std::vector<double>{0, 0}), 1);
    EXPECT_EQ(sign_p({}), 1);
}

TEST(Sign, ManyElements) {
    std::vector<double> differences(5000, 1);
    EXPECT_EQ(sign_p(differences), 0);
    std::fill(differences.begin(), differences.begin() + 2500, -1);
    EXPECT_NEAR(sign_p(differences), 1, 1e-9);
    // 60 of 100 differences are positive: 0.0569 according to tables.
    differences.assign(100, 1);
    std::fill(differences.begin(), differences.begin() + 40, -1);
    EXPECT_NEAR(sign_p(differences), 0.0569, 5e-5);
}

TEST(Trend, ByTheNormalDistribution) {
    // All 36 pairs of the nine values rise: z = (36 - 1) / sqrt(9 * 8 * 23 / 18) = 3.649.
    EXPECT_NEAR(trend_p(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}), 2.63e-4, 1e-6);
    EXPECT_NEAR(trend_p(std::vector<double>{9, 8, 7, 6, 5, 4, 3, 2, 1}), 2.63e-4, 1e-6);
    // 6 of the 36 pairs fall, 24 fewer than rise: z = 23 / 9.592 = 2.398.
    EXPECT_NEAR(trend_p(std::vector<double>{3, 1, 4, 2, 6, 5, 9, 7, 8}), 0.0165, 1e-4);
    EXPECT_EQ(trend_p(std::vector<double>{1, 1, 1, 1}), 1);
    EXPECT_EQ(trend_p(std::vector<double>{1}), 1);
    EXPECT_EQ(trend_p({}), 1);
}

TEST(MannWhitney, NothingToCompare) {
    EXPECT_EQ(mann_whitney_p({}, std::vector<double>{1}), 1);
    EXPECT_EQ(mann_whitney_p({}, {}), 1);
}

}  // namespace
}  // namespace dmlconform::bench::rank_test_test

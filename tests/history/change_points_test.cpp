// Tests of engine/history/change_points: changes of level, outliers and noise.
#include "engine/history/change_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace dmlconform::history::change_points_test {
namespace {

std::vector<std::size_t> changes_of(const std::vector<double>& values) {
    std::vector<std::size_t> indices;
    for (const ChangePoint& point : find_change_points(values)) {
        indices.push_back(point.index);
    }
    return indices;
}

TEST(ChangePoints, Rows) {
    struct Row {
        const char* what;
        std::vector<double> values;
        std::vector<std::size_t> changes;
    };
    const Row rows[] = {
        {"nothing", {}, {}},
        {"too few to compare with", {1, 2}, {}},
        {"level", {1, 1.01, 0.99, 1, 1.02, 1}, {}},
        {"a step up", {1, 1, 1.01, 1.1, 1.1, 1.11}, {3}},
        {"a step down", {1, 1, 1.01, 0.9, 0.9, 0.9}, {3}},
        {"up and down again", {1, 1, 1, 1.2, 1.2, 1.2, 1, 1, 1}, {3, 6}},
        {"an outlier", {1, 1, 1, 2, 1, 1, 1}, {}},
        {"two outliers in opposite directions", {1, 1, 1, 2, 0.5, 1, 1}, {}},
        {"the last one", {1, 1, 1, 1.2}, {3}},
        {"within the threshold", {1, 1, 1, 1.04, 1.04, 1.04}, {}},
        {"two values that are high by chance", {1, 1.1, 0.9, 1.05, 0.95, 1.2, 1.2, 1}, {}},
        {"within the noise", {1, 1.1, 0.9, 1.05, 0.95, 1.15, 1.15, 1}, {}},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(changes_of(row.values), row.changes) << row.what;
    }
}

TEST(ChangePoints, LevelsAndConfirmation) {
    const auto points = find_change_points(std::vector<double>{1, 1, 1, 1.2, 1.2, 1.2, 1.5});
    ASSERT_EQ(points.size(), 2u);
    EXPECT_DOUBLE_EQ(points[0].before, 1);
    EXPECT_DOUBLE_EQ(points[0].after, 1.2);
    EXPECT_TRUE(points[0].confirmed);
    EXPECT_DOUBLE_EQ(points[1].before, 1.2);
    EXPECT_FALSE(points[1].confirmed) << "nothing has followed yet";
}

/// Ten results that scatter by 3 %, with a step of 20 % or without.
TEST(ChangePoints, AStepIsFoundWhereItIs) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(0, 0.03);
    constexpr int trials = 2000;
    int exact = 0;
    int wrong = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> level;
        std::vector<double> step;
        for (int i = 0; i < 10; ++i) {
            level.push_back(std::exp(noise(random)));
            step.push_back(level.back() * (i < 5 ? 1 : 1.2));
        }
        const auto points = find_change_points(step);
        exact += std::ranges::any_of(points,
                                     [](const ChangePoint& point) {
                                         return point.confirmed && point.index == 5 && point.after > point.before;
                                     })
                     ? 1
                     : 0;
        wrong += std::ranges::any_of(find_change_points(level), &ChangePoint::confirmed) ? 1 : 0;
    }
    EXPECT_GT(exact, 0.95 * trials);
    // 1 % are allowed; three standard deviations of a binomial distribution more.
    EXPECT_LT(wrong, 0.01 * trials + 3 * std::sqrt(0.01 * trials));
}

TEST(ChangePoints, ErrorsOfTheValuesCount) {
    const std::vector<double> values{1, 1.001, 0.999, 1.2, 1.201};
    const std::vector<double> small(values.size(), 0.001);
    const std::vector<double> large(values.size(), 0.1);
    EXPECT_EQ(find_change_points(values, {}, small).size(), 1u);
    EXPECT_TRUE(find_change_points(values, {}, large).empty()) << "that they agree so well is chance";
}

TEST(ChangePoints, AStepIsFoundInNoise) {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(1, 0.01);
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) {
        values.push_back(noise(random) * (i < 100 ? 1 : 1.1));
    }
    EXPECT_EQ(changes_of(values), std::vector<std::size_t>{100});
}

}  // namespace
}  // namespace dmlconform::history::change_points_test

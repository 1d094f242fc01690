// Tests of engine/compare/error_map: cells for outputs of any shape.
#include "engine/compare/error_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "engine/compare/comparison.h"
#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::error_map_test {
namespace {

using compare::error_map;
using compare::ErrorMap;
using core::DataType;

constexpr double infinite = std::numeric_limits<double>::infinity();

core::Tolerance within_abs(double bound) {
    core::Tolerance tolerance;
    tolerance.abs = bound;
    return tolerance;
}

/// The map of an output of zeros, in which the elements at these row-major indices have other values.
ErrorMap map_of(const std::vector<std::uint32_t>& sizes, const std::map<std::size_t, float>& errors,
                const core::Tolerance& tolerance) {
    const auto desc = tensor(DataType::float32, {sizes.begin(), sizes.end()});
    const std::size_t count = std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>());
    std::vector<float> actual(count);
    for (const auto& [index, value] : errors) {
        actual[index] = value;
    }
    return error_map(tensor_of(desc, std::vector<float>(count)), tensor_of(desc, actual), tolerance, nullptr);
}

TEST(ErrorMap, SmallOutputsHaveACellForEachElement) {
    const ErrorMap map = map_of({1, 2, 3}, {{1, 1.0f}, {5, -4.0f}}, within_abs(2));
    EXPECT_EQ(map.rows, 2u);
    EXPECT_EQ(map.columns, 3u);
    EXPECT_EQ(map.used, (std::vector<double>{0, 0.5, 0, 0, 0, 2}));
    EXPECT_EQ(map.wrong, (std::vector<double>{0, 0, 0, 0, 0, 1}));
}

TEST(ErrorMap, LargeOnesShareCells) {
    // The map has 100 rows of 70 elements; its cell (31,31) contains the last rows and columns.
    const ErrorMap map = map_of({4, 25, 70}, {{0, 3.0f}, {1, 5.0f}, {99 * 70 + 69, 7.0f}}, within_abs(1));
    EXPECT_EQ(map.rows, 32u);
    EXPECT_EQ(map.columns, 32u);
    EXPECT_EQ(map.used.front(), 5);
    EXPECT_EQ(map.used.back(), 7);
    EXPECT_DOUBLE_EQ(map.wrong.front(), 2.0 / (4 * 3)) << "of four rows and three columns";
    EXPECT_DOUBLE_EQ(map.wrong.back(), 1.0 / (3 * 2));
    EXPECT_EQ(std::count(map.used.begin(), map.used.end(), 0.0), 32 * 32 - 2);
}

TEST(ErrorMap, WhatNoBoundHoldsIsInfinite) {
    core::Tolerance exact;
    exact.exact = true;
    EXPECT_EQ(map_of({2}, {{1, 1e-30f}}, exact).used, (std::vector<double>{0, infinite}));
    EXPECT_EQ(map_of({2}, {{0, std::nanf("")}}, within_abs(1)).used, (std::vector<double>{infinite, 0}));
    EXPECT_EQ(map_of({1}, {{0, 1.0f}}, within_abs(0)).used, std::vector<double>{infinite});
}

TEST(ErrorMap, ItHoldsWhatTheComparisonHolds) {
    const auto desc = tensor(DataType::float32, {3, 50});
    std::vector<float> wanted(150);
    std::vector<float> found(150);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        wanted[i] = static_cast<float>(i);
        found[i] = wanted[i] + (i % 7 == 0 ? 0.01f * static_cast<float>(i) : 0);
    }
    const auto expected = tensor_of(desc, wanted);
    const auto actual = tensor_of(desc, found);
    const auto comparison = compare::compare(expected, actual, within_abs(0.5), nullptr);
    const ErrorMap map = error_map(expected, actual, within_abs(0.5), nullptr);
    EXPECT_FALSE(comparison.passed());
    EXPECT_GT(*std::max_element(map.used.begin(), map.used.end()), 1);
    double within = 0;
    for (const double used : map.used) {
        within = used <= 1 ? std::max(within, used) : within;
    }
    EXPECT_LE(within, *comparison.largest_fraction);
}

}  // namespace
}  // namespace dmlconform::tests::error_map_test

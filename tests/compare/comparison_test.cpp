// Tests of engine/compare/comparison: which outputs pass a tolerance, and what is reported.
#include "engine/compare/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "engine/core/element.h"
#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::comparison_test {
namespace {

using compare::Comparison;
using compare::coordinates_of;
using compare::UlpHistogram;
using core::DataType;
using core::ElementSlack;
using core::Float16;
using core::Tolerance;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Tolerance exact() {
    Tolerance tolerance;
    tolerance.exact = true;
    return tolerance;
}

Tolerance within_ulp(std::uint64_t ulp) {
    Tolerance tolerance;
    tolerance.ulp = ulp;
    return tolerance;
}

Tolerance within_abs(double bound) {
    Tolerance tolerance;
    tolerance.abs = bound;
    return tolerance;
}

Tolerance within_rel(double bound) {
    Tolerance tolerance;
    tolerance.rel = bound;
    return tolerance;
}

template <class T>
DataType type_of() {
    if constexpr (std::is_same_v<T, float>) {
        return DataType::float32;
    } else if constexpr (std::is_same_v<T, double>) {
        return DataType::float64;
    } else if constexpr (std::is_same_v<T, Float16>) {
        return DataType::float16;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return DataType::int64;
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return DataType::uint64;
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return DataType::int32;
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
        return DataType::uint8;
    } else {
        static_assert(std::is_same_v<T, std::int8_t>);
        return DataType::int8;
    }
}

/// Compares lists of elements as packed tensors.
template <class T>
Comparison compared(const std::vector<T>& expected, const std::vector<T>& actual, const Tolerance& tolerance,
                    const ElementSlack* slack = nullptr) {
    const auto desc = tensor(type_of<T>(), {static_cast<std::uint32_t>(expected.size())});
    return compare::compare(tensor_of(desc, expected), tensor_of(desc, actual), tolerance, slack);
}

template <class T>
bool passes(T expected, T actual, const Tolerance& tolerance) {
    const Comparison comparison = compared<T>({expected}, {actual}, tolerance);
    EXPECT_EQ(comparison.elements, 1u);
    EXPECT_EQ(comparison.passed(), comparison.beyond == 0);
    return comparison.passed();
}

float up(float value, int steps) {
    for (; steps > 0; --steps) {
        value = std::nextafter(value, inf);
    }
    return value;
}

TEST(Comparison, Exact) {
    EXPECT_TRUE(passes(1.5f, 1.5f, exact()));
    EXPECT_FALSE(passes(1.5f, up(1.5f, 1), exact()));
    EXPECT_FALSE(passes(0.0f, -0.0f, exact())) << "bit equality";
    EXPECT_FALSE(passes(0.0f, 0x1p-149f, exact()));
    EXPECT_TRUE(passes<std::int8_t>(-1, -1, exact()));
    EXPECT_FALSE(passes<std::int8_t>(-1, 127, exact()));
    // Without any criterion, only equal values pass.
    EXPECT_TRUE(passes(1.5f, 1.5f, Tolerance{}));
    EXPECT_FALSE(passes(1.5f, up(1.5f, 1), Tolerance{}));
}

TEST(Comparison, NanMatchesNanWhateverThePayloadAndNothingElse) {
    const float other_nan = std::bit_cast<float>(0xffa00001u);
    Tolerance anything = within_ulp(~std::uint64_t{0});
    anything.abs = std::numeric_limits<double>::infinity();
    anything.rel = std::numeric_limits<double>::infinity();
    for (const Tolerance& tolerance : {exact(), within_ulp(0), within_abs(1e300), within_rel(1e300), anything}) {
        EXPECT_TRUE(passes(nan, nan, tolerance));
        EXPECT_TRUE(passes(nan, other_nan, tolerance));
        EXPECT_TRUE(passes(other_nan, nan, tolerance));
        for (const float number : {0.0f, 1.0f, -inf, inf}) {
            EXPECT_FALSE(passes(nan, number, tolerance));
            EXPECT_FALSE(passes(number, nan, tolerance));
        }
    }
    EXPECT_TRUE(passes(Float16::from_bits(0x7e00), Float16::from_bits(0xfc01), exact()));
    EXPECT_FALSE(passes(Float16::from_bits(0x7e00), Float16::from_bits(0x7c00), anything));
    EXPECT_TRUE(passes(std::numeric_limits<double>::quiet_NaN(), std::bit_cast<double>(0xfff0000000000001u), exact()));
}

TEST(Comparison, InfinitiesMatchOnlyThemselves) {
    const float largest = std::numeric_limits<float>::max();
    Tolerance anything = within_ulp(~std::uint64_t{0});
    anything.abs = std::numeric_limits<double>::infinity();
    anything.rel = std::numeric_limits<double>::infinity();
    for (const Tolerance& tolerance : {exact(), within_ulp(1), within_abs(1e300), within_rel(1), anything}) {
        EXPECT_TRUE(passes(inf, inf, tolerance));
        EXPECT_TRUE(passes(-inf, -inf, tolerance));
        EXPECT_FALSE(passes(inf, -inf, tolerance));
        EXPECT_FALSE(passes(inf, largest, tolerance));
        EXPECT_FALSE(passes(largest, inf, tolerance));
    }
    EXPECT_FALSE(passes(Float16::from_bits(0x7c00), Float16::from_bits(0x7bff), within_ulp(1)));
}

TEST(Comparison, UlpsAtTheBoundary) {
    for (const float start : {1.0f, -1.0f, 1e-42f, 0.0f, 1e30f}) {
        EXPECT_TRUE(passes(start, up(start, 2), within_ulp(2))) << start;
        EXPECT_FALSE(passes(start, up(start, 3), within_ulp(2))) << start;
        EXPECT_TRUE(passes(up(start, 2), start, within_ulp(2))) << start;
        EXPECT_FALSE(passes(up(start, 3), start, within_ulp(2))) << start;
    }
    EXPECT_TRUE(passes(0.0f, -0.0f, within_ulp(0))) << "the zeros are 0 apart";
    EXPECT_FALSE(passes(0.0f, 0x1p-149f, within_ulp(0)));
    EXPECT_TRUE(passes(-0x1p-149f, 0x1p-149f, within_ulp(2)));
    EXPECT_FALSE(passes(-0x1p-149f, 0x1p-149f, within_ulp(1)));
    // ULPs of FLOAT16 are those of half precision.
    EXPECT_TRUE(passes(Float16::from_bits(0x3c00), Float16::from_bits(0x3c02), within_ulp(2)));
    EXPECT_FALSE(passes(Float16::from_bits(0x3c00), Float16::from_bits(0x3c03), within_ulp(2)));
    // For integers, ULPs are the absolute difference.
    EXPECT_TRUE(passes<std::uint8_t>(10, 13, within_ulp(3)));
    EXPECT_FALSE(passes<std::uint8_t>(10, 14, within_ulp(3)));
    EXPECT_FALSE(passes<std::uint8_t>(0, 255, within_ulp(1))) << "no wrapping";
    EXPECT_TRUE(passes<std::int8_t>(-128, 127, within_ulp(255)));
    EXPECT_FALSE(passes<std::int8_t>(-128, 127, within_ulp(254)));
    EXPECT_FALSE(
        passes(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), within_ulp(1)));
    EXPECT_TRUE(passes(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                       within_ulp(~std::uint64_t{0})));
    EXPECT_FALSE(passes(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                        within_ulp(~std::uint64_t{0} - 1)));
}

TEST(Comparison, LargeUlpCountsAreComparedExactly) {
    // Integers that a double cannot tell apart.
    const std::uint64_t large = (std::uint64_t{1} << 60) + 1;
    EXPECT_TRUE(passes<std::uint64_t>(0, large, within_ulp(large)));
    EXPECT_FALSE(passes<std::uint64_t>(0, large + 1, within_ulp(large)));
    EXPECT_FALSE(passes<std::uint64_t>(large + 1, 0, within_ulp(large)));
}

TEST(Comparison, AbsoluteAtTheBoundary) {
    EXPECT_TRUE(passes(1.0f, 1.25f, within_abs(0.25)));
    EXPECT_TRUE(passes(1.0f, 0.75f, within_abs(0.25)));
    EXPECT_FALSE(passes(1.0f, up(1.25f, 1), within_abs(0.25)));
    EXPECT_FALSE(passes(1.0f, std::nextafter(0.75f, 0.0f), within_abs(0.25)));
    EXPECT_TRUE(passes(-0.125f, 0.125f, within_abs(0.25)));
    EXPECT_TRUE(passes(1e30f, 1e30f, within_abs(0)));
    EXPECT_TRUE(passes(0.0f, -0.0f, within_abs(0)));
    EXPECT_FALSE(passes(0.0f, 0x1p-149f, within_abs(0)));
    EXPECT_TRUE(passes<std::int32_t>(-3, 2, within_abs(5)));
    EXPECT_FALSE(passes<std::int32_t>(-3, 2, within_abs(4.999)));
    EXPECT_TRUE(passes(Float16(2.0), Float16(2.5), within_abs(0.5)));
    EXPECT_FALSE(
        passes(Float16(2.0), Float16::from_bits(static_cast<std::uint16_t>(Float16(2.5).bits + 1)), within_abs(0.5)));
    EXPECT_FALSE(passes(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max(), within_abs(1e308)));
}

TEST(Comparison, RelativeToTheExpectedValue) {
    EXPECT_TRUE(passes(4.0f, 5.0f, within_rel(0.25)));
    EXPECT_FALSE(passes(4.0f, up(5.0f, 1), within_rel(0.25)));
    EXPECT_TRUE(passes(-4.0f, -3.0f, within_rel(0.25)));
    EXPECT_FALSE(passes(5.0f, 4.0f - 0.25f - 0.0625f, within_rel(0.25)));
    EXPECT_FALSE(passes(3.0f, 4.0f, within_rel(0.3))) << "1 of 3";
    EXPECT_TRUE(passes(4.0f, 3.0f, within_rel(0.3))) << "1 of 4";
    EXPECT_FALSE(passes(0.0f, 0x1p-149f, within_rel(1e10))) << "of 0 there is no part";
    EXPECT_TRUE(passes(0.0f, -0.0f, within_rel(1e10)));
    EXPECT_TRUE(passes<std::int32_t>(-100, -110, within_rel(0.1)));
    EXPECT_FALSE(passes<std::int32_t>(-100, -111, within_rel(0.1)));
}

TEST(Comparison, OneOfSeveralCriteriaIsEnough) {
    Tolerance both = within_ulp(1);
    both.abs = 0.5;
    EXPECT_TRUE(passes(1e10f, up(1e10f, 1), both)) << "1 ULP, though 1024 apart";
    EXPECT_TRUE(passes(0.0f, 0.5f, both)) << "0.5 apart, though many ULPs";
    EXPECT_FALSE(passes(1e10f, up(1e10f, 2), both));
    EXPECT_FALSE(passes(0.0f, up(0.5f, 1), both));
    Tolerance with_exact = exact();
    with_exact.abs = 0.5;
    EXPECT_TRUE(passes(1.0f, 1.5f, with_exact));
}

TEST(Comparison, SlackOfEachElementAboveAndBelow) {
    Tolerance tolerance;
    tolerance.element_slack = true;
    const ElementSlack slack{{0, 0.5, 0, 1}, {0, 0, 0.25, 1}};
    const std::vector<float> expected{1, 1, 1, 1};
    const auto with = [&](const std::vector<float>& actual) { return compared(expected, actual, tolerance, &slack); };
    EXPECT_TRUE(with({1, 0.5f, 1.25f, 2}).passed());
    EXPECT_TRUE(with({1, 0.75f, 1.125f, 0}).passed());
    EXPECT_EQ(with({up(1, 1), 1, 1, 1}).beyond, 1u) << "no slack at all";
    EXPECT_EQ(with({1, up(1, 1), 1, 1}).beyond, 1u) << "slack below only";
    EXPECT_EQ(with({1, 1, std::nextafter(1.0f, 0.0f), 1}).beyond, 1u) << "slack above only";
    EXPECT_EQ(with({1, std::nextafter(0.5f, 0.0f), up(1.25f, 1), up(2, 1)}).beyond, 3u);
    EXPECT_EQ(with({nan, nan, inf, -inf}).beyond, 4u);
    EXPECT_EQ(compared(expected, {1, 0.5f, 1.25f, 2}, tolerance).beyond, 3u) << "no slack is given";
    Tolerance or_ulp = tolerance;
    or_ulp.ulp = 1;
    EXPECT_TRUE(compared(expected, {up(1, 1), up(1, 1), std::nextafter(1.0f, 0.0f), 2}, or_ulp, &slack).passed());
    const ElementSlack infinite{{0, 0, 0, std::numeric_limits<double>::infinity()},
                                {0, 0, 0, std::numeric_limits<double>::infinity()}};
    EXPECT_TRUE(compared(expected, {1, 1, 1, 1e38f}, tolerance, &infinite).passed());
    EXPECT_FALSE(compared(expected, {1, 1, 1, nan}, tolerance, &infinite).passed());
    const auto worst = with({1, 1, up(1.25f, 3), 1}).worst;
    ASSERT_TRUE(worst && worst->slack);
    EXPECT_EQ(worst->slack->below, 0);
    EXPECT_EQ(worst->slack->above, 0.25);
    EXPECT_FALSE(compared(expected, {1, 1, 1, 2}, exact()).worst->slack) << "none for a tolerance without";
    // Integer types have slack as well.
    const ElementSlack one_up{{0}, {1}};
    EXPECT_TRUE(compared<std::int8_t>({5}, {6}, tolerance, &one_up).passed());
    EXPECT_FALSE(compared<std::int8_t>({5}, {4}, tolerance, &one_up).passed());
    EXPECT_FALSE(compared<std::int8_t>({5}, {7}, tolerance, &one_up).passed());
}

TEST(Comparison, SlackFromAnInfinityCountsFromTheLargestNumber) {
    constexpr float largest = std::numeric_limits<float>::max();
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    Tolerance tolerance;
    tolerance.element_slack = true;
    const struct {
        float expected;
        float actual;
        double slack;
        bool finite;
        bool passes;
    } cases[] = {
        {inf, largest, 0, true, true},          {inf, largest, 0, false, false},
        {inf, largest / 2, 0, true, false},     {inf, largest / 2, 3e38, true, true},
        {inf, -1, 3e38, true, false},           {inf, -largest, 3e38, true, false},
        {inf, -largest, unlimited, true, true}, {inf, -inf, unlimited, true, true},
        {inf, -inf, 3e38, true, false},         {inf, -inf, unlimited, false, false},
        {-inf, -largest, 0, true, true},        {-inf, -largest / 2, 0, true, false},
        {-inf, largest, 3e38, true, false},     {-inf, largest, unlimited, true, true},
        {-inf, inf, unlimited, true, true},     {-inf, inf, 3e38, true, false},
        {inf, -1e38f, 4.5e38, true, true},      {inf, -2e38f, 4.5e38, true, false},
        {inf, -1e38f, 4.5e38, false, false},    {inf, -inf, 4.5e38, true, false},
        {-inf, 1e38f, 4.5e38, true, true},      {-inf, 2e38f, 4.5e38, true, false},
    };
    for (const auto& c : cases) {
        const bool up = c.expected < 0;
        const ElementSlack slack{{up ? 0 : c.slack}, {up ? c.slack : 0}, {0}, {static_cast<std::uint8_t>(c.finite)}};
        EXPECT_EQ(compared<float>({c.expected}, {c.actual}, tolerance, &slack).passed(), c.passes)
            << c.actual << " for " << c.expected << " with " << c.slack << (c.finite ? "" : ", no finite numbers");
    }
}

TEST(Comparison, AlternativesAreAsGoodAsWhatIsExpected) {
    Tolerance tolerance = exact();
    tolerance.alternatives = true;
    ElementSlack slack;
    const auto alternative = [](std::uint64_t index, float value) {
        return std::pair<std::uint64_t, std::uint64_t>(index, std::bit_cast<std::uint32_t>(value));
    };
    slack.alternatives = {alternative(1, 2), alternative(1, 7), alternative(1, nan), alternative(3, 4),
                          alternative(3, 0)};
    std::sort(slack.alternatives.begin(), slack.alternatives.end());
    const std::vector<float> expected{1, 2, 3, 4};
    const auto with = [&](const std::vector<float>& actual) { return compared(expected, actual, tolerance, &slack); };
    EXPECT_TRUE(with({1, 2, 3, 4}).passed());
    EXPECT_TRUE(with({1, 7, 3, 0}).passed());
    EXPECT_TRUE(with({1, nan, 3, 4}).passed());
    EXPECT_TRUE(with({1, std::bit_cast<float>(0xff812345), 3, 4}).passed()) << "another NaN";
    EXPECT_EQ(with({1, 2, 3, nan}).beyond, 1u) << "NaN is no alternative there";
    EXPECT_EQ(with({1, 5, 3, 2}).beyond, 2u) << "between them, or near one";
    EXPECT_EQ(with({7, 2, 7, 4}).beyond, 2u) << "alternatives of other elements";
    EXPECT_EQ(compared(expected, {1, 7, 3, 4}, exact(), &slack).beyond, 1u) << "the tolerance does not ask for them";
    EXPECT_EQ(compared(expected, {1, 7, 3, 4}, tolerance).beyond, 1u) << "none are given";
    EXPECT_EQ(with({1, 7, 3, 4}).histogram.counts[0], 4u);
    EXPECT_EQ(compared<float>({1, 3, 3, 4}, {1, 2, 3, 4}, tolerance, &slack).beyond, 1u) << "none is what is expected";
}

TEST(Comparison, WhatMeansNothingIsNotCompared) {
    Tolerance tolerance = exact();
    tolerance.meaningful_part = true;
    ElementSlack slack;
    const auto beyond = [&](const std::vector<float>& actual) {
        return compared<float>({1, 2, 3, 4}, actual, tolerance, &slack).beyond;
    };
    EXPECT_EQ(beyond({9, 2, 9, nan}), 3u) << "all of it means something";
    slack.meaningful = 2;
    EXPECT_EQ(beyond({1, 2, 9, nan}), 0u);
    EXPECT_EQ(beyond({1, 9, 9, 4}), 1u);
    slack.meaningful = 0;
    EXPECT_EQ(beyond({9, 9, 9, 9}), 0u);
    EXPECT_EQ(compared<float>({1, 2, 3, 4}, {9, 2, 3, 4}, exact(), &slack).beyond, 1u) << "the tolerance does not ask";
}

TEST(Comparison, NanAndInfinitiesWithSlack) {
    Tolerance tolerance;
    tolerance.element_slack = true;
    const float largest = std::numeric_limits<float>::max();
    const double far = 1.5 * double{largest};
    const ElementSlack slack{{far}, {far}, {1}, {1}};
    const auto with = [&](float expected, float actual) {
        return compared<float>({expected}, {actual}, tolerance, &slack).passed();
    };
    EXPECT_TRUE(with(1, nan));
    EXPECT_FALSE(with(nan, 1)) << "NaN may stand for the number, not a number for NaN";
    EXPECT_TRUE(with(inf, largest));
    EXPECT_TRUE(with(-inf, -largest));
    EXPECT_TRUE(with(inf, -largest / 2)) << "the range goes beyond zero";
    EXPECT_FALSE(with(inf, -largest));
    EXPECT_FALSE(with(-inf, largest));
}

TEST(Comparison, NumbersWhereNaNIsExpected) {
    Tolerance tolerance;
    tolerance.element_slack = true;
    const double far = std::numeric_limits<double>::infinity();
    const auto with = [&](const ElementSlack& slack, float expected, float actual) {
        return compared<float>({expected}, {actual}, tolerance, &slack).passed();
    };
    const ElementSlack some{{1}, {3}, {2}, {0}};
    EXPECT_TRUE(with(some, nan, -1));
    EXPECT_TRUE(with(some, nan, 3));
    EXPECT_FALSE(with(some, nan, up(3, 1)));
    EXPECT_FALSE(with(some, nan, -1.5F));
    EXPECT_FALSE(with(some, nan, inf));
    EXPECT_FALSE(with(some, 2, nan)) << "a case that expects a number where the reference has NaN";
    const ElementSlack any{{far}, {far}, {2}, {0}};
    EXPECT_TRUE(with(any, nan, inf) && with(any, nan, -inf) && with(any, nan, 1e30F));
}

TEST(Comparison, SlackIsByLogicalIndex) {
    // Column-major: element (0,1) is third in memory and second in row-major order.
    Tolerance tolerance;
    tolerance.element_slack = true;
    const ElementSlack slack{{0, 1, 0, 0}, {0, 1, 0, 0}};
    const auto desc = tensor(DataType::float32, {2, 2}, {1, 2});
    const auto expected = tensor_of<float>(desc, {1, 1, 1, 1});
    EXPECT_TRUE(compare::compare(expected, tensor_of<float>(desc, {1, 2, 1, 1}), tolerance, &slack).passed());
    EXPECT_FALSE(compare::compare(expected, tensor_of<float>(desc, {1, 1, 2, 1}), tolerance, &slack).passed());
}

TEST(Comparison, TheWorstElement) {
    struct WorstRow {
        std::vector<float> actual;
        std::uint64_t index;
        std::optional<std::uint64_t> ulp;
        std::uint64_t beyond;
    };
    const WorstRow rows[] = {
        {{1, up(1, 1), up(1, 2), 1}, 2, 2, 0},         // all within the tolerance: the largest error
        {{up(1, 3), 1, up(1, 5), up(1, 4)}, 2, 5, 3},  // some beyond it: the largest error among those
        {{up(1, 3), 1, up(1, 3), 1}, 0, 3, 2},         // equal errors: the first one
        {{2, nan, 3, 1}, 1, {}, 3},                    // NaN instead of a number is worse than any error
        {{nan, nan, 1, 1}, 0, {}, 2},
        {{1, 1, inf, -inf}, 3, 0x3f800000u + 0x7f800000u, 2},
    };
    for (const WorstRow& row : rows) {
        const Comparison comparison = compared<float>({1, 1, 1, 1}, row.actual, within_ulp(2));
        ASSERT_TRUE(comparison.worst.has_value());
        EXPECT_EQ(comparison.worst->index, row.index);
        EXPECT_EQ(comparison.worst->ulp, row.ulp);
        EXPECT_EQ(comparison.beyond, row.beyond);
        EXPECT_EQ(comparison.worst->expected_bits, 0x3f800000u);
        EXPECT_EQ(comparison.worst->actual_bits, std::bit_cast<std::uint32_t>(row.actual[row.index]));
    }
    EXPECT_FALSE(compared<float>({1, nan}, {1, -nan}, exact()).worst.has_value()) << "nothing differs";
}

TEST(Comparison, TheWorstIsBeyondTheToleranceIfAnythingIs) {
    // The first error is larger in ULPs, but within 0.5; the second is not.
    Tolerance tolerance = within_abs(0.5);
    const Comparison comparison = compared<float>({0.0f, 1e10f}, {0.5f, up(1e10f, 1)}, tolerance);
    EXPECT_EQ(comparison.beyond, 1u);
    EXPECT_EQ(comparison.worst->index, 1u);
    EXPECT_EQ(comparison.worst->ulp, 1u);
    const Comparison turned = compared<float>({1e10f, 0.0f}, {up(1e10f, 1), 0.5f}, tolerance);
    EXPECT_EQ(turned.worst->index, 0u);
}

TEST(Comparison, HowMuchOfTheToleranceWasUsed) {
    EXPECT_EQ(compared<float>({1, 1}, {1, 1}, exact()).largest_fraction, std::nullopt);
    EXPECT_EQ(compared<float>({1, 1}, {1, 1}, within_ulp(4)).largest_fraction, 0.0);
    EXPECT_EQ(compared<float>({1, 1}, {up(1, 1), up(1, 3)}, within_ulp(4)).largest_fraction, 0.75);
    EXPECT_EQ(compared<float>({1, 1}, {up(1, 4), up(1, 3)}, within_ulp(4)).largest_fraction, 1.0);
    EXPECT_EQ(compared<float>({1, 1}, {up(1, 5), up(1, 2)}, within_ulp(4)).largest_fraction, 0.5)
        << "what is beyond does not count";
    EXPECT_EQ(compared<float>({1, 2}, {1.125f, 2}, within_abs(0.25)).largest_fraction, 0.5);
    EXPECT_EQ(compared<float>({4, 2}, {4.5f, 2}, within_rel(0.25)).largest_fraction, 0.5);
    // The most lenient of several criteria decides.
    Tolerance both = within_ulp(4);
    both.abs = 0x1p-20;
    EXPECT_EQ(compared<float>({1}, {up(1, 2)}, both).largest_fraction, 0.25);
    Tolerance slack_only;
    slack_only.element_slack = true;
    const ElementSlack slack{{1, 1}, {2, 2}};
    EXPECT_EQ(compared<float>({4, 4}, {4.5f, 3.5f}, slack_only, &slack).largest_fraction, 0.5);
}

TEST(Comparison, Histogram) {
    struct BucketRow {
        std::optional<std::uint64_t> ulp;
        std::size_t bucket;
        std::string_view label;
    };
    const BucketRow rows[] = {
        {0, 0, "0"},
        {1, 1, "1"},
        {2, 2, "2"},
        {3, 3, "3-4"},
        {4, 3, "3-4"},
        {5, 4, "5-8"},
        {8, 4, "5-8"},
        {9, 5, "9-16"},
        {16, 5, "9-16"},
        {17, 6, "17-32"},
        {32, 6, "17-32"},
        {33, 7, "33-64"},
        {64, 7, "33-64"},
        {65, 8, ">64"},
        {1000000, 8, ">64"},
        {~std::uint64_t{0}, 8, ">64"},
        {std::nullopt, 9, "NaN"},
    };
    for (const BucketRow& row : rows) {
        EXPECT_EQ(UlpHistogram::bucket_of(row.ulp), row.bucket) << row.label;
        EXPECT_EQ(UlpHistogram::label(row.bucket), row.label);
    }
    const std::vector<float> expected(10, 1.0f);
    const Comparison comparison = compared<float>(
        expected, {1, up(1, 1), up(1, 2), up(1, 3), up(1, 4), up(1, 64), up(1, 65), nan, inf, 1}, within_ulp(2));
    EXPECT_EQ(comparison.histogram.counts, (std::array<std::uint64_t, 10>{2, 1, 1, 2, 0, 0, 0, 1, 2, 1}));
    EXPECT_EQ(comparison.elements, 10u);
    EXPECT_EQ(comparison.beyond, 6u);
    // -0 and 0 are equal, and so are NaNs.
    const Comparison zeros = compared<float>({0.0f, nan}, {-0.0f, -nan}, exact());
    EXPECT_EQ(zeros.histogram.counts[0], 2u);
    EXPECT_EQ(zeros.beyond, 1u) << "but their bits differ";
}

TEST(Comparison, EachTensorHasStridesOfItsOwn) {
    const std::vector<std::int8_t> values{1, 2, 3, 4, 5, 6};
    const core::TensorDesc layouts[] = {
        tensor(DataType::int8, {2, 3}),
        tensor(DataType::int8, {2, 3}, {1, 2}),
        tensor(DataType::int8, {2, 3}, {4, 1}),
        tensor(DataType::int8, {2, 3}, {30, 7}),
    };
    for (const auto& expected : layouts) {
        for (const auto& actual : layouts) {
            EXPECT_TRUE(
                compare::compare(tensor_of(expected, values), tensor_of(actual, values), exact(), nullptr).passed());
            for (std::size_t i = 0; i < values.size(); ++i) {
                auto wrong = values;
                wrong[i] = static_cast<std::int8_t>(wrong[i] + 1);
                const Comparison comparison =
                    compare::compare(tensor_of(expected, values), tensor_of(actual, wrong), exact(), nullptr);
                EXPECT_EQ(comparison.beyond, 1u);
                EXPECT_EQ(comparison.elements, 6u);
                ASSERT_TRUE(comparison.worst.has_value());
                EXPECT_EQ(comparison.worst->index, i) << "logical, whatever the layout";
            }
        }
    }
}

TEST(Comparison, ElementsAndNotTheBytesInARowAreCompared) {
    const core::Tensor expected = tensor_of<std::int8_t>(tensor(DataType::int8, {3}), {1, 1, 2});
    core::Tensor actual = tensor_of<std::int8_t>(tensor(DataType::int8, {3}, {2}), {1, 2, 3});
    actual.buffer.bytes()[1] = std::byte{1};
    ASSERT_EQ(std::memcmp(expected.buffer.bytes().data(), actual.buffer.bytes().data(), 3), 0);
    EXPECT_EQ(compare::compare(expected, actual, exact(), nullptr).beyond, 2u);
    EXPECT_EQ(compare::compare(actual, expected, exact(), nullptr).beyond, 2u);
}

TEST(Comparison, BytesBetweenElementsDoNotCount) {
    core::TensorDesc desc = tensor(DataType::int8, {2, 2}, {6, 2});
    desc.total_bytes = 16;
    const core::Tensor expected = tensor_of<std::int8_t>(desc, {1, 2, 3, 4});
    const auto addresses = addresses_of(desc);
    for (std::size_t byte = 0; byte < 16; ++byte) {
        core::Tensor actual = tensor_of<std::int8_t>(desc, {1, 2, 3, 4});
        actual.buffer.bytes()[byte] ^= std::byte{1};
        const bool is_element = std::find(addresses.begin(), addresses.end(), byte) != addresses.end();
        EXPECT_EQ(compare::compare(expected, actual, exact(), nullptr).passed(), !is_element) << byte;
    }
}

TEST(Comparison, Ranks) {
    // Tensors with no dimension and with eight.
    EXPECT_TRUE(compare::compare(tensor_of<float>(tensor(DataType::float32, {}), {1}),
                                 tensor_of<float>(tensor(DataType::float32, {}), {1}), exact(), nullptr)
                    .passed());
    const core::Dimensions sizes{1, 2, 1, 3, 1, 2, 1, 2};
    std::vector<float> values(24);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i);
    }
    const auto desc = tensor(DataType::float32, sizes);
    auto wrong = values;
    wrong[17] = -1;
    const Comparison comparison = compare::compare(tensor_of(desc, values), tensor_of(desc, wrong), exact(), nullptr);
    EXPECT_EQ(comparison.worst->index, 17u);
    EXPECT_EQ(coordinates_of(17, sizes), (core::Dimensions{0, 1, 0, 1, 0, 0, 0, 1}));
}

TEST(Comparison, Coordinates) {
    const core::Dimensions sizes{2, 3, 4};
    EXPECT_EQ(coordinates_of(0, sizes), (core::Dimensions{0, 0, 0}));
    EXPECT_EQ(coordinates_of(3, sizes), (core::Dimensions{0, 0, 3}));
    EXPECT_EQ(coordinates_of(4, sizes), (core::Dimensions{0, 1, 0}));
    EXPECT_EQ(coordinates_of(23, sizes), (core::Dimensions{1, 2, 3}));
    EXPECT_EQ(coordinates_of(0, {}), (core::Dimensions{}));
    EXPECT_EQ(coordinates_of(0xfffffffe, {0xffffffff}), (core::Dimensions{0xfffffffe}));
}

// ---- wrong answers -------------------------------------------------------------------------------------------------

TEST(Comparison, NoFlippedBitGoesUnnoticed) {
    // Flips every bit of one element, for every type, packed and strided: each flip must be noticed.
    for (std::uint32_t t = 1; t < core::data_type_count; ++t) {
        const auto type = static_cast<DataType>(t);
        if (core::bytes_of(type) == 0) {
            continue;
        }
        SCOPED_TRACE(core::name(type));
        for (const auto& desc : {tensor(type, {3, 5}), tensor(type, {3, 5}, {1, 3}), tensor(type, {3, 5}, {11, 2})}) {
            const auto addresses = addresses_of(desc);
            const auto filled = [&] {
                core::Tensor data = blank_tensor(desc);
                for (std::size_t i = 0; i < addresses.size(); ++i) {
                    core::store_element(data.buffer.bytes(), type, addresses[i],
                                        core::encode_element(type, static_cast<double>(i + 1)).value());
                }
                return data;
            };
            const core::Tensor expected = filled();
            ASSERT_TRUE(compare::compare(expected, filled(), exact(), nullptr).passed());
            for (std::size_t i = 0; i < addresses.size(); ++i) {
                for (std::uint32_t bit = 0; bit < core::bits_of(type); ++bit) {
                    core::Tensor actual = filled();
                    const auto bits = core::load_element(actual.buffer.bytes(), type, addresses[i]);
                    core::store_element(actual.buffer.bytes(), type, addresses[i], bits ^ (std::uint64_t{1} << bit));
                    const Comparison comparison = compare::compare(expected, actual, exact(), nullptr);
                    ASSERT_EQ(comparison.beyond, 1u) << "element " << i << ", bit " << bit;
                    ASSERT_EQ(comparison.worst->index, i);
                    ASSERT_EQ(comparison.worst->expected_bits ^ comparison.worst->actual_bits, std::uint64_t{1} << bit);
                }
            }
        }
    }
}

TEST(Comparison, AgreesWithASlowerOneOnRandomFloats) {
    std::mt19937 random(1);
    std::vector<float> expected;
    std::vector<float> actual;
    for (int i = 0; i < 5000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random());
        expected.push_back(std::bit_cast<float>(bits));
        // Chooses a neighbour, any number, or the same number.
        const auto kind = random() % 3;
        actual.push_back(std::bit_cast<float>(kind == 0   ? bits
                                              : kind == 1 ? bits + static_cast<std::uint32_t>(random() % 9) - 4
                                                          : static_cast<std::uint32_t>(random())));
    }
    std::uint64_t beyond = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const float a = expected[i];
        const float b = actual[i];
        bool good = std::isnan(a) && std::isnan(b);
        if (!std::isnan(a) && !std::isnan(b)) {
            good = a == b;
            if (std::isfinite(a) && std::isfinite(b)) {
                // Counts neighbours one at a time.
                float x = a;
                for (int step = 0; step < 3 && !good; ++step) {
                    x = std::nextafter(x, b);
                    good = x == b;
                }
            }
        }
        beyond += good ? 0 : 1;
    }
    const Comparison comparison = compared(expected, actual, within_ulp(3));
    EXPECT_EQ(comparison.beyond, beyond);
    EXPECT_GT(beyond, 1000u);
    EXPECT_LT(beyond, 4000u);
}

}  // namespace
}  // namespace dmlconform::tests::comparison_test

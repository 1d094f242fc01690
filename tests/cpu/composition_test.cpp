// Tests of engine/cpu/composition: sums and numbers that exceed the range of their storage types.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/cpu/composition/arithmetic.h"

namespace dmlconform::cpu::composition::composition_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<float>::max();
constexpr double largest_half = 65504;

Interval of_two_parts(bool half, double first, double second) {
    SumBounds sum(half);
    sum.add(first);
    sum.begin_part();
    sum.add(second);
    return sum.result();
}

TEST(SumBounds, PartsBeyondFloat16MayBeItsLargestNumber) {
    const Interval positive = of_two_parts(true, 100000, -60000);
    EXPECT_TRUE(positive.contains(40000));
    EXPECT_TRUE(positive.contains(largest_half - 60000)) << "the first part was rounded towards zero";
    EXPECT_TRUE(positive.contains(inf)) << "it was rounded to nearest";
    EXPECT_FALSE(positive.contains(5000));
    const Interval negative = of_two_parts(true, 60000, -100000);
    EXPECT_TRUE(negative.contains(60000 - largest_half));
    EXPECT_TRUE(negative.contains(-inf));
    EXPECT_FALSE(negative.contains(-5000));
    const Interval both = of_two_parts(true, 1e6, -1e6);
    EXPECT_TRUE(both.nan && both.contains(-inf) && both.contains(inf)) << "infinity and infinity";
}

TEST(SumBounds, PartsThatFitAreNotWidened) {
    for (const bool half : {false, true}) {
        const Interval sum = of_two_parts(half, 60000, -50000);
        EXPECT_TRUE(sum.contains(10000));
        EXPECT_FALSE(sum.contains(9000) || sum.contains(11000) || sum.nan) << half;
    }
    EXPECT_FALSE(of_two_parts(false, 100000, -60000).contains(39000)) << "in FP32 it fits";
}

TEST(Bounded, NumbersBeyondFp32AreTheLargestOrInfinite) {
    const Bounded single{false};
    const Interval above = single.stored({1e39, 1e40, false});
    EXPECT_TRUE(above.contains(largest) && above.contains(inf));
    EXPECT_FALSE(above.contains(1e38));
    const Interval below = single.stored({-1e40, -1e39, false});
    EXPECT_TRUE(below.contains(-largest) && below.contains(-inf));
    EXPECT_FALSE(below.contains(-1e38));
    const Interval infinite = single.stored(inf);
    EXPECT_FALSE(infinite.contains(largest)) << "an infinity that is given stays one";
    const Interval small = single.stored({1, 2, false});
    EXPECT_TRUE(small.low == 1 && small.high == 2);
}

TEST(Exact, WhatGrowsBeyondEveryTypeStaysANumber) {
    const Exact exact;
    double grown = 1e30;
    for (int i = 0; i < 20; ++i) {
        grown = exact.carried(grown * grown);
    }
    EXPECT_EQ(grown - grown, 0);
    EXPECT_GT(grown, largest);
    EXPECT_LT(exact.carried(-grown * grown), -largest);
    EXPECT_EQ(exact.carried(inf), inf);
    EXPECT_EQ(exact.carried(0.1), 0.1);
    EXPECT_TRUE(std::isnan(exact.carried(inf - inf)));
}

}  // namespace
}  // namespace dmlconform::cpu::composition::composition_test

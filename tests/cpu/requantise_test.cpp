// Tests of engine/cpu/requantise: values derived by hand, and which neighbours are accepted.
#include "engine/cpu/product/requantise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace dmlconform::tests::requantise_test {
namespace {

using cpu::Quantised;
using cpu::requantise;

/// The integers that are accepted for a result.
std::set<std::int32_t> accepted(const Quantised& result) {
    std::set<std::int32_t> values;
    for (std::int32_t value = result.value - result.below; value <= result.value + result.above; ++value) {
        values.insert(value);
    }
    return values;
}

TEST(Requantise, ByHand) {
    struct Row {
        std::int64_t accumulator;
        double multiplier;
        std::int32_t zero_point;
        std::int32_t value;
        std::set<std::int32_t> accepted;
    };
    constexpr double ulp = 0x1p-24;  // relative error of one FP32 rounding; four are allowed
    const Row rows[] = {
        // No ties.
        {0, 1, 0, 0, {0}},
        {5, 1, 0, 5, {5}},
        {3, 0.4, 0, 1, {1}},
        {-3, 0.4, 0, -1, {-1}},
        {7, 0.1, 10, 11, {11}},
        // Ties are rounded to even before the zero point is added, and the other neighbour is accepted.
        {1, 0.5, 0, 0, {0, 1}},
        {3, 0.5, 0, 2, {1, 2}},
        {5, 0.5, 0, 2, {2, 3}},
        {-1, 0.5, 0, 0, {-1, 0}},
        {-3, 0.5, 0, -2, {-2, -1}},
        {1, 0.5, 1, 1, {1, 2}},
        {3, 0.5, 1, 3, {2, 3}},
        {-5, 0.5, -3, -5, {-6, -5}},
        // Near the tie 100.5, on both sides, within four roundings and beyond.
        {1, 100.5 * (1 + 3.9 * ulp), 0, 101, {100, 101}},
        {1, 100.5 * (1 + 4.1 * ulp), 0, 101, {101}},
        {1, 100.5 * (1 - 3.9 * ulp), 0, 100, {100, 101}},
        {1, 100.5 * (1 - 4.1 * ulp), 0, 100, {100}},
        {-1, 100.5 * (1 + 3.9 * ulp), 0, -101, {-101, -100}},
        {-1, 100.5 * (1 + 4.1 * ulp), 0, -101, {-101}},
        {-1, 100.5 * (1 - 3.9 * ulp), 0, -100, {-101, -100}},
        {-1, 100.5 * (1 - 4.1 * ulp), 0, -100, {-100}},
        // The zero point shifts the result, but not the accepted distance to a tie.
        {1, 100.5 * (1 + 4.1 * ulp), -100, 1, {1}},
        {1, 0.5 * (1 + 4.1 * ulp), 100, 101, {101}},
        // Saturation at the ends of INT8, which have no neighbours beyond.
        {1000, 1, 0, 127, {127}},
        {-1000, 1, 0, -128, {-128}},
        {200, 1, -100, 100, {100}},
        {-200, 1, 100, -100, {-100}},
        {255, 0.5, 0, 127, {127}},           // 127.5: 128 is out of range
        {253, 0.5, 0, 126, {126, 127}},      // 126.5
        {-257, 0.5, 0, -128, {-128}},        // -128.5
        {-255, 0.5, 0, -128, {-128, -127}},  // -127.5
        {std::numeric_limits<std::int64_t>::max(), 1, 127, 127, {127}},
        {std::numeric_limits<std::int64_t>::min(), 1, -128, -128, {-128}},
        {1, 1e300, 0, 127, {127}},
        {1, -1e300, 0, -128, {-128}},
        {1, 1e-300, 5, 5, {5}},
    };
    for (const Row& row : rows) {
        const Quantised result = requantise(row.accumulator, row.multiplier, row.zero_point, -128, 127);
        EXPECT_EQ(result.value, row.value) << row.accumulator << " * " << row.multiplier << " + " << row.zero_point;
        EXPECT_EQ(accepted(result), row.accepted)
            << row.accumulator << " * " << row.multiplier << " + " << row.zero_point;
    }
}

TEST(Requantise, MultipliersThatAreNoNumbers) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (const double multiplier : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
        for (const std::int64_t accumulator :
             {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
            const Quantised result = requantise(accumulator, multiplier, 3, 0, 255);
            for (const std::int32_t value : accepted(result)) {
                EXPECT_GE(value, 0);
                EXPECT_LE(value, 255);
            }
        }
    }
}

struct Scales {
    std::int32_t accumulator = 0;
    float x = 1;
    float w = 1;
    float y = 1;
    std::int32_t zero_point = 0;

    [[nodiscard]] double multiplier() const { return double{x} * double{w} / double{y}; }
    [[nodiscard]] Quantised reference() const { return requantise(accumulator, multiplier(), zero_point, 0, 255); }
};

Scales random_scales(std::mt19937& generator) {
    std::uniform_real_distribution<float> exponent(-8, 0);
    std::uniform_int_distribution<std::int32_t> quotient(-300, 300);
    Scales scales;
    scales.x = std::exp2(exponent(generator));
    scales.w = std::exp2(exponent(generator));
    scales.y = std::exp2(exponent(generator));
    scales.zero_point = std::uniform_int_distribution<std::int32_t>(0, 255)(generator);
    // Half of the accumulators are as close to a tie as an integer can be.
    const double target = quotient(generator) + std::uniform_int_distribution<int>(0, 1)(generator) * 0.5;
    scales.accumulator = static_cast<std::int32_t>(std::nearbyint(target / scales.multiplier()));
    return scales;
}

std::int32_t clamped(float value) {
    return static_cast<std::int32_t>(std::clamp(value, 0.0f, 255.0f));
}

/// The results of Microsoft's DirectML, bit for bit (semantics.md), and other orders of the same FP32 operations.
TEST(Requantise, AcceptsFp32Evaluations) {
    std::mt19937 generator(11);
    int near_ties = 0;
    for (int i = 0; i < 200'000; ++i) {
        const Scales s = random_scales(generator);
        const auto values = accepted(s.reference());
        const auto zero_point = static_cast<float>(s.zero_point);
        const auto accumulator = static_cast<float>(s.accumulator);
        const float microsofts = accumulator * ((s.x * s.w) / s.y);
        const float other = (accumulator * s.x) * (s.w / s.y);
        const float third = ((accumulator * s.x) * s.w) / s.y;
        for (const float product : {microsofts, other, third}) {
            ASSERT_TRUE(values.contains(clamped(std::nearbyintf(product) + zero_point)))
                << s.accumulator << " * " << s.x << " * " << s.w << " / " << s.y << " + " << s.zero_point;
        }
        near_ties += values.size() > 1 ? 1 : 0;
    }
    EXPECT_GT(near_ties, 0);
}

/// One value is accepted, or both values next to a tie if FP32 rounding may cross it. The test compares the distance to
/// the tie, while the implementation shifts the value.
TEST(Requantise, AcceptsNothingElse) {
    std::mt19937 generator(12);
    std::uniform_real_distribution<double> offset(-12, 12);
    for (int i = 0; i < 200'000; ++i) {
        const double tie = std::uniform_int_distribution<int>(-130, 130)(generator) + 0.5;
        const double value = tie * (1 + offset(generator) * 0x1p-24);
        const double allowed = 4 * 0x1p-24 * std::fabs(value);
        // The comparisons in double are accurate to about 2^-52, so closer values are skipped.
        if (std::fabs(std::fabs(value - tie) - allowed) < 1e-13 * std::fabs(tie)) {
            continue;
        }
        std::set<std::int32_t> expected{static_cast<std::int32_t>(std::nearbyint(value))};
        if (std::fabs(value - tie) < allowed) {
            expected = {static_cast<std::int32_t>(std::floor(tie)), static_cast<std::int32_t>(std::ceil(tie))};
        }
        ASSERT_EQ(accepted(requantise(1, value, 0, -1000, 1000)), expected) << std::hexfloat << value;
    }
}

TEST(Requantise, RejectsTruncation) {
    std::mt19937 generator(13);
    int truncation_seen = 0;
    for (int i = 0; i < 1000; ++i) {
        const Scales s = random_scales(generator);
        const double exact = s.accumulator * s.multiplier();
        truncation_seen +=
            accepted(s.reference())
                    .contains(clamped(std::trunc(static_cast<float>(exact)) + static_cast<float>(s.zero_point)))
                ? 0
                : 1;
    }
    EXPECT_GT(truncation_seen, 100);
}

/// On GPUs, a subnormal scale, the product of two scales or the whole multiplier may become 0.
TEST(Requantise, AcceptsFlushedScales) {
    using Set = std::set<std::int32_t>;
    const auto values = [](double a, double b, double divisor) {
        return accepted(requantise(3, cpu::Multiplier::of(a, b, divisor), 100, 0, 255));
    };
    EXPECT_EQ(values(2, 1, 1), Set({106}));
    EXPECT_EQ(values(0x1p-126, 1, 0x1p-126), Set({103}));
    EXPECT_EQ(values(0x1p-127, 1, 0x1p-126), Set({100, 101, 102})) << "a scale; 1.5 is rounded to 2";
    EXPECT_EQ(values(0x1p-100, 0x1p-27, 0x1p-126), Set({100, 101, 102})) << "the product of two scales";
    EXPECT_EQ(values(0x1p-100, 0x1p-26, 0x1p-126), Set({103}));
    EXPECT_EQ(accepted(requantise(1 << 30, cpu::Multiplier::of(1, 0x1p-80, 0x1p60), 100, 0, 255)), Set({100}))
        << "the multiplier, of a sum that is far too small to notice";
}

TEST(Requantise, AcceptsWhatEitherAccepts) {
    const cpu::Quantised low{-128, 0, 1};
    const cpu::Quantised high{127, 1, 0};
    const cpu::Quantised first = cpu::hull(low, high);
    EXPECT_EQ(first.value, -128);
    EXPECT_EQ(first.below, 0);
    EXPECT_EQ(first.above, 255);
    const cpu::Quantised second = cpu::hull(high, low);
    EXPECT_EQ(second.value, 127);
    EXPECT_EQ(second.below, 255);
    EXPECT_EQ(second.above, 0);
}

}  // namespace
}  // namespace dmlconform::tests::requantise_test

// Tests of engine/compare/precision: estimates from an output's errors in which precision it was computed.
#include "engine/compare/precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/tensor_values.h"

namespace dmlconform::tests::precision_test {
namespace {

using compare::PrecisionStatistic;
using core::DataType;
using core::ElementSlack;
using core::Float16;
using core::TensorDesc;

constexpr double unit = 0x1p-24;

float without_low_bits(float value, int bits) {
    const auto raw = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t half = (1u << (bits - 1)) - 1 + ((raw >> bits) & 1u);
    return std::bit_cast<float>((raw + half) & ~((1u << bits) - 1));
}

/// The FP32 sum rounded towards zero. The exact sum of two floats of similar size fits a double.
float truncated_sum(float a, float b) {
    const double exact = double{a} + double{b};
    const auto nearest = static_cast<float>(exact);
    return std::fabs(double{nearest}) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
}

enum class Way { sequential, pairwise, fused, tf32, truncating, float16_sums };

/// Dot products of normally distributed vectors: exact, and computed with some rounding.
struct Products {
    std::vector<float> exact;
    std::vector<float> actual;
    ElementSlack slack;

    Products(Way way, std::size_t count, std::size_t length, std::uint32_t seed) {
        std::mt19937 random(seed);
        std::normal_distribution<float> values;
        for (std::size_t i = 0; i < count; ++i) {
            double sum = 0;
            double squares = 0;
            std::vector<std::pair<float, float>> factors(length);
            for (auto& [a, b] : factors) {
                a = values(random);
                b = values(random);
                sum += double{a} * double{b};
                squares += std::pow(double{a} * double{b}, 2);
            }
            const auto n = static_cast<double>(length);
            exact.push_back(static_cast<float>(sum));
            actual.push_back(computed(way, factors));
            slack.sigma.push_back(unit * std::sqrt((n * (squares / 2 + sum * sum / 3) + sum * sum) / 3));
        }
    }

    [[nodiscard]] PrecisionStatistic statistic() const {
        const TensorDesc desc = TensorDesc::packed(DataType::float32, {static_cast<std::uint32_t>(exact.size())});
        return *compare::precision_of(tensor_of(desc, exact), tensor_of(desc, actual), slack);
    }

private:
    static float computed(Way way, std::vector<std::pair<float, float>> factors) {
        std::vector<float> terms;
        float sum = 0;
        for (auto [a, b] : factors) {
            if (way == Way::tf32) {
                a = without_low_bits(a, 13);
                b = without_low_bits(b, 13);
            }
            terms.push_back(a * b);
            sum = way == Way::fused          ? std::fma(a, b, sum)
                  : way == Way::truncating   ? truncated_sum(sum, a * b)
                  : way == Way::float16_sums ? static_cast<float>(Float16(double{sum} + double{a} * double{b}))
                                             : sum + a * b;
        }
        for (std::size_t half = terms.size() / 2; way == Way::pairwise && half != 0; half /= 2) {
            for (std::size_t i = 0; i < half; ++i) {
                terms[i] += terms[i + half];
            }
            sum = terms[0];
        }
        return sum;
    }
};

TEST(Precision, ThresholdsHaveTheirFalseAlarmRate) {
    const auto rate = [](double t) { return t * std::exp(-(t * t - 1) / 2); };
    EXPECT_LT(rate(compare::highest_honest_q), 1e-6);
    EXPECT_GT(rate(compare::highest_honest_q - 0.1), 1e-6) << "it is no larger than it needs to be";
}

TEST(Precision, HonestSumsAreHonestInAnyOrder) {
    for (const Way way : {Way::sequential, Way::pairwise, Way::fused}) {
        for (const std::size_t length : {16u, 256u, 2048u}) {
            const PrecisionStatistic statistic = Products(way, 1024, length, 1).statistic();
            EXPECT_TRUE(statistic.can_tell());
            EXPECT_LT(statistic.q(), 1.0) << length;
            EXPECT_GT(statistic.q(), 0.05) << length;
            EXPECT_FALSE(statistic.truncates());
        }
    }
}

TEST(Precision, CoarseSumsAreSeenAtEveryLength) {
    for (const std::size_t length : {16u, 256u, 2048u}) {
        EXPECT_GT(Products(Way::tf32, 1024, length, 2).statistic().q(), 20 * compare::highest_honest_q) << length;
        const PrecisionStatistic half = Products(Way::float16_sums, 1024, length, 3).statistic();
        EXPECT_NEAR(compare::effective_bits(half.q(), DataType::float32), 11.5, 0.8) << length;
    }
}

TEST(Precision, RoundingTowardsZeroIsSeenByTheBias) {
    for (const std::size_t length : {16u, 256u, 2048u}) {
        const PrecisionStatistic statistic = Products(Way::truncating, 1024, length, 4).statistic();
        EXPECT_TRUE(statistic.truncates()) << length;
        EXPECT_GT(statistic.bias(), 1) << length;
        const core::RoundedSum sum{.roundings = static_cast<double>(length) + 1, .of_each_term = 1};
        EXPECT_LT(statistic.q(), compare::highest_truncating_q({{sum}}) / 2);
    }
}

TEST(Precision, ErrorsOfNearestThatAllPointTowardsZeroAreNotRoundingTowardsZero) {
    PrecisionStatistic statistic{.elements = 8192, .squares = 0, .towards_zero = 0, .different = 64};
    const auto with = [&](double q) {
        statistic.squares = 8192 * q * q;
        statistic.towards_zero = 8192 * 0.7 * q;
        return statistic.truncates();
    };
    EXPECT_FALSE(with(0.5)) << "a set of 8,192 elements that share one rounding";
    EXPECT_TRUE(with(1.1));
}

TEST(Precision, EnoughDifferentElementsCanTell) {
    EXPECT_FALSE(Products(Way::tf32, 63, 16, 5).statistic().can_tell());
    EXPECT_TRUE(Products(Way::tf32, 64, 16, 5).statistic().can_tell());
    Products equal(Way::tf32, 1, 16, 6);
    equal.exact.resize(1000, equal.exact.front());
    equal.actual.resize(1000, equal.actual.front());
    equal.slack.sigma.resize(1000, equal.slack.sigma.front());
    EXPECT_EQ(equal.statistic().elements, 1000u);
    EXPECT_FALSE(equal.statistic().can_tell()) << "all of them have the same error";
}

TEST(Precision, SmallOutputsTellTogether) {
    PrecisionStatistic all;
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
        all.add(Products(Way::tf32, 8, 16, seed).statistic());
    }
    EXPECT_EQ(all.elements, 64u);
    EXPECT_TRUE(all.can_tell());
    EXPECT_GT(all.q(), compare::highest_honest_q);
}

TEST(Precision, ElementsThatCannotTellAreLeftOut) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const TensorDesc desc = TensorDesc::packed(DataType::float32, {8});
    ElementSlack slack;
    slack.sigma = {1, 0, 1, 1, 0x1p-101, infinity, 1, 1};
    slack.meaningful = 7;
    slack.alternatives = {{6, 0x40000000u}};  // 2.0
    const auto statistic = compare::precision_of(tensor_of<float>(desc, {4, 1, nan, 1, 1, 1, 1, 1}),
                                                 tensor_of<float>(desc, {3, 2, nan, infinity, 2, 2, 2, 2}), slack);
    EXPECT_EQ(statistic->elements, 1u);
    EXPECT_NEAR(statistic->q(), 1, 1e-6);
    EXPECT_NEAR(statistic->bias(), 1, 1e-6) << "towards zero";
    EXPECT_EQ(statistic->different, 1u);
}

TEST(Precision, TheRoundingOfTheReferenceIsPartOfTheDeviation) {
    const TensorDesc desc = TensorDesc::packed(DataType::float32, {1});
    ElementSlack slack;
    slack.sigma = {unit};
    const auto statistic =
        compare::precision_of(tensor_of<float>(desc, {1}), tensor_of<float>(desc, {1 + 0x1p-23f}), slack);
    EXPECT_NEAR(statistic->q(), 2 / std::sqrt(1 + 1 / 3.0), 1e-9);
}

TEST(Precision, OnlyFloatsWithDeviationsCanTell) {
    ElementSlack slack;
    const auto told = [&](DataType type, const auto& value) {
        const TensorDesc desc = TensorDesc::packed(type, {1});
        return compare::precision_of(tensor_of(desc, value), tensor_of(desc, value), slack).has_value();
    };
    EXPECT_FALSE(told(DataType::float32, std::vector<float>{1}));
    slack.sigma = {1};
    EXPECT_TRUE(told(DataType::float32, std::vector<float>{1}));
    EXPECT_TRUE(told(DataType::float16, std::vector<Float16>{Float16(1)}));
    EXPECT_FALSE(told(DataType::float64, std::vector<double>{1}));
    EXPECT_FALSE(told(DataType::int32, std::vector<std::int32_t>{1}));
}

TEST(Precision, StridesOfBothTensorsCount) {
    TensorDesc turned = TensorDesc::packed(DataType::float32, {2, 2});
    const TensorDesc packed = turned;
    turned.strides = core::Dimensions{1, 2};
    ElementSlack slack;
    slack.sigma = {1, 2, 4, 8};
    const auto statistic =
        compare::precision_of(tensor_of<float>(turned, {1, 2, 3, 4}), tensor_of<float>(packed, {2, 4, 7, 12}), slack);
    EXPECT_NEAR(statistic->q(), 1, 1e-6);
}

TEST(Precision, AnotherComputationExplainsItsOwnErrorsAndNoOthers) {
    const Products tf32(Way::tf32, 256, 256, 7);
    const Products same(Way::tf32, 256, 256, 7);
    const Products honest(Way::sequential, 256, 256, 7);
    const TensorDesc desc = TensorDesc::packed(DataType::float32, {256});
    const auto share = [&](const std::vector<float>& other, const std::vector<float>& actual) {
        return compare::explanation_by(tensor_of(desc, other), tensor_of(desc, tf32.exact), tensor_of(desc, actual),
                                       tf32.slack);
    };
    EXPECT_NEAR(share(same.actual, tf32.actual).share, 1, 1e-9);
    EXPECT_NEAR(share(same.actual, tf32.actual).q, tf32.statistic().q(), 1e-9);
    EXPECT_LT(share(honest.actual, tf32.actual).share, 0.1);
    EXPECT_LT(share(tf32.actual, honest.actual).share, 0);
}

}  // namespace
}  // namespace dmlconform::tests::precision_test

// Tests of engine/cpu/normalisation/normalized_element: ranges must accept correct implementations and reject others.
#include "engine/cpu/normalisation/normalized_element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tests/descriptor_builder.h"

namespace dmlconform::tests::normalized_element_test {
namespace {

using core::DataType;
using cpu::Interval;
using cpu::NormalizedElement;
using cpu::element_wise::FusedActivation;

/// A normalisation group: elements that share a mean, and the parameters. FP32 throughout.
struct Set {
    std::vector<float> values;
    float scale = 1;
    float bias = 0;
    float epsilon = 1e-5f;
};

/// The elements as the reference computes them, from sums in long double.
std::vector<NormalizedElement> exact_elements(const Set& set) {
    const auto n = static_cast<long double>(set.values.size());
    long double sum = 0;
    for (const float value : set.values) {
        sum += value;
    }
    long double squares = 0;
    for (const float value : set.values) {
        squares += (value - sum / n) * (value - sum / n);
    }
    const long double rstd = 1 / std::sqrt(squares / n + static_cast<long double>(set.epsilon));
    std::vector<NormalizedElement> elements;
    for (const float value : set.values) {
        elements.push_back({static_cast<double>(value - sum / n), static_cast<double>(rstd), double{set.scale},
                            double{set.bias}, static_cast<double>(sum / n)});
    }
    return elements;
}

float pairwise_sum(const float* values, std::size_t count) {
    return count == 1 ? *values : pairwise_sum(values, count / 2) + pairwise_sum(values + count / 2, count - count / 2);
}

float sequential_sum(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0f);
}

float as_float16(float value) {
    return static_cast<float>(core::Float16(double{value}));
}

/// A mistake in an implementation. The first ones are correct.
enum class Mistake {
    none,
    sequential_sums,     // one term after the other
    truncated_sums,      // the same, rounded towards zero
    statistics_as_half,  // mean and variance stored as FLOAT16
    sample_variance,     // divided by n - 1
    epsilon_outside,     // 1 / (sqrt(variance) + epsilon)
    epsilon_forgotten,
    variance_from_squares,    // mean of squares minus square of the mean
    variance_not_normalized,  // multiplied by the standard deviation once too rarely
    bias_before_scale,
    half_precision_sums,      // each partial sum truncated to FLOAT16
    variance_overflows_half,  // measured on DirectML 1.15.4: beyond 65504 the result is 0
    subnormals_flushed,       // FLOAT16 subnormals, which D3D forbids to flush
};

float half_truncated(float value) {
    const float nearest = as_float16(value);
    return std::fabs(nearest) > std::fabs(value)
               ? static_cast<float>(
                     core::Float16::from_bits(static_cast<std::uint16_t>(core::Float16(double{value}).bits - 1)))
               : nearest;
}

float half_sum(const std::vector<float>& values) {
    float sum = 0;
    for (const float value : values) {
        sum = half_truncated(sum + value);
    }
    return sum;
}

/// Rounds towards zero, as Direct3D allows.
float truncated_sum(const std::vector<float>& values) {
    float sum = 0;
    for (const float value : values) {
        const double exact = double{sum} + double{value};
        const auto nearest = static_cast<float>(exact);
        sum = std::fabs(double{nearest}) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
    }
    return sum;
}

/// Two passes in FP32 with pairwise sums, like a shader.
std::vector<float> computed(const Set& set, Mistake mistake = Mistake::none) {
    std::vector<float> values = set.values;
    if (mistake == Mistake::subnormals_flushed) {
        std::replace_if(
            values.begin(), values.end(), [](float v) { return std::fabs(v) < 0x1p-14f; }, 0.0f);
    }
    const auto n = static_cast<float>(values.size());
    const auto sum = [&](const std::vector<float>& terms) {
        switch (mistake) {
            case Mistake::half_precision_sums:
                return half_sum(terms);
            case Mistake::sequential_sums:
                return sequential_sum(terms);
            case Mistake::truncated_sums:
                return truncated_sum(terms);
            default:
                return pairwise_sum(terms.data(), terms.size());
        }
    };
    const auto kept = [&](float value) {
        return mistake == Mistake::statistics_as_half ? half_truncated(value) : value;
    };
    const float mean = kept(sum(values) / n);
    std::vector<float> squares;
    for (const float value : values) {
        const float centred = mistake == Mistake::variance_from_squares ? value : value - mean;
        squares.push_back(centred * centred);
    }
    float variance = kept(sum(squares) / (mistake == Mistake::sample_variance ? n - 1 : n));
    if (mistake == Mistake::variance_from_squares) {
        variance = std::max(0.0f, variance - mean * mean);
    }
    float rstd = 1 / std::sqrt(variance + (mistake == Mistake::epsilon_forgotten ? 0 : set.epsilon));
    if (mistake == Mistake::epsilon_outside) {
        rstd = 1 / (std::sqrt(variance) + set.epsilon);
    }
    if (mistake == Mistake::variance_not_normalized) {
        rstd = 1;
    }
    if (mistake == Mistake::variance_overflows_half && variance > 65504) {
        rstd = 0;
    }
    std::vector<float> results;
    for (const float value : values) {
        const float normalised = (value - mean) * rstd;
        results.push_back(mistake == Mistake::bias_before_scale ? (normalised + set.bias) * set.scale
                                                                : normalised * set.scale + set.bias);
    }
    return results;
}

cpu::StatisticsRange statistics_range(const Set& set, double mean, DataType type) {
    const std::vector<double> numbers(set.values.begin(), set.values.end());
    return cpu::statistics_range(numbers, mean, {.type = type, .epsilon = double{set.epsilon}});
}

struct Outcome {
    std::size_t outside = 0;
    /// The largest share of the range that an accepted element uses.
    double used = 0;
};

Outcome judged(const Set& set, const std::vector<float>& results, DataType type) {
    Outcome outcome;
    const auto elements = exact_elements(set);
    const cpu::StatisticsRange statistics = statistics_range(set, elements.front().mean, type);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const double result = type == DataType::float16 ? double{as_float16(results[i])} : double{results[i]};
        const double value = cpu::normalized(elements[i]);
        const Interval range =
            cpu::accepted_range(double{set.values[i]}, elements[i], statistics, FusedActivation(nullptr), type);
        if (!(range.low <= result && result <= range.high)) {
            ++outcome.outside;
        } else if (result != value) {
            const double end = result > value ? range.high : range.low;
            outcome.used = std::max(outcome.used, (result - value) / (end - value));
        }
    }
    return outcome;
}

class Draw {
public:
    explicit Draw(unsigned seed) : generator_(seed) {}

    float uniform(float low, float high) { return std::uniform_real_distribution<float>(low, high)(generator_); }

    std::size_t count(float log2_low, float log2_high) {
        return static_cast<std::size_t>(std::exp2(uniform(log2_low, log2_high)));
    }

    /// Normally distributed elements around an offset that is small or large compared with the spread.
    Set set(std::size_t n, float offset, float spread, DataType type) {
        Set result;
        std::normal_distribution<float> normal;
        for (std::size_t i = 0; i < n; ++i) {
            const float value = offset + spread * normal(generator_);
            result.values.push_back(type == DataType::float16 ? as_float16(value) : value);
        }
        result.scale = uniform(-2, 2);
        result.bias = uniform(-2, 2);
        result.epsilon = uniform(0, 1) < 0.5f ? 1e-5f : 1e-2f;
        return result;
    }

private:
    std::mt19937 generator_;
};

/// All ways to compute that are correct, on sets of random sizes.
TEST(NormalizationBudget, HoldsFp32Implementations) {
    for (const DataType type : {DataType::float32, DataType::float16}) {
        Draw draw(21);
        for (int i = 0; i < 3000; ++i) {
            const float offset =
                draw.uniform(0, 1) < 0.3f ? 0 : std::exp2(draw.uniform(-5, type == DataType::float16 ? 10 : 20));
            const float spread = std::exp2(draw.uniform(-10, 8));
            const Set set = draw.set(draw.count(0, 10), offset, spread, type);
            for (const Mistake way : {Mistake::none, Mistake::sequential_sums}) {
                ASSERT_EQ(judged(set, computed(set, way), type).outside, 0u)
                    << set.values.size() << " elements of " << name(type) << " around " << offset << " ± " << spread
                    << ", scale " << set.scale << ", bias " << set.bias << ", way " << static_cast<int>(way);
            }
        }
    }
}

/// Rounding towards zero always goes in one direction, so this holds for short sums only.
TEST(NormalizationBudget, HoldsShortSumsThatAreTruncated) {
    Draw draw(28);
    for (int i = 0; i < 3000; ++i) {
        const Set set = draw.set(draw.count(0, 4), std::exp2(draw.uniform(-5, 20)), 1, DataType::float32);
        ASSERT_EQ(judged(set, computed(set, Mistake::truncated_sums), DataType::float32).outside, 0u);
    }
}

/// Without a long sum, the range is not much wider than necessary.
TEST(NormalizationBudget, IsUsedByShortSums) {
    for (const DataType type : {DataType::float32, DataType::float16}) {
        Draw draw(26);
        double used = 0;
        for (int i = 0; i < 3000; ++i) {
            const Set set = draw.set(draw.count(1, 4), 0, 1, type);
            used = std::max(used, judged(set, computed(set, Mistake::truncated_sums), type).used);
        }
        EXPECT_GT(used, type == DataType::float16 ? 0.5 : 0.25) << name(type);
    }
}

/// Sums one by one have independent roundings as long as the spread is larger than a rounding of the sum, which is 0.06
/// for 65,536 elements around 10. Sums over a tree hold for any offset.
TEST(NormalizationBudget, HoldsLongSums) {
    Draw draw(22);
    for (const float offset : {0.0f, 1.0f, 10.0f, 1e4f, 1e6f}) {
        Set set = draw.set(1 << 16, offset, 1, DataType::float32);
        EXPECT_EQ(judged(set, computed(set), DataType::float32).outside, 0u) << offset;
        if (offset <= 10) {
            EXPECT_EQ(judged(set, computed(set, Mistake::sequential_sums), DataType::float32).outside, 0u) << offset;
            // The partial sums of sorted elements are the largest that there are.
            std::ranges::sort(set.values);
            EXPECT_EQ(judged(set, computed(set, Mistake::sequential_sums), DataType::float32).outside, 0u) << offset;
        }
    }
}

/// The variance of spreads from 2^-6 to 2^7 is a normal FLOAT16 number.
TEST(NormalizationBudget, HoldsStatisticsOfFloat16) {
    Draw draw(27);
    for (int i = 0; i < 1000; ++i) {
        const float spread = std::exp2(draw.uniform(-5, 6));
        const Set set = draw.set(draw.count(4, 10), std::exp2(draw.uniform(-5, 10)), spread, DataType::float16);
        ASSERT_EQ(judged(set, computed(set, Mistake::statistics_as_half), DataType::float16).outside, 0u);
    }
}

/// 1025 to 1031: the sum is exact. Its seventh is 1028, or a little less if it is multiplied by the reciprocal, which
/// is 1027 as a FLOAT16 number that is rounded towards zero. The mean of the squared distances is then 4 to 5.
TEST(NormalizationBudget, OfFloat16AroundALargeOffset) {
    Set set{.values = {1025, 1026, 1027, 1028, 1029, 1030, 1031}, .epsilon = 0};
    const cpu::StatisticsRange statistics = statistics_range(set, 1028, DataType::float16);
    EXPECT_EQ(statistics.mean.low, 1027);
    EXPECT_NEAR(statistics.mean.high, 1028, 1e-3);
    EXPECT_NEAR(statistics.rstd.low, 1 / std::sqrt(5.0), 1e-3);
    EXPECT_NEAR(statistics.rstd.high, 0.5, 1e-3);
    EXPECT_GT(judged(set, std::vector<float>(7, 0), DataType::float16).outside, 0u) << "zeros";
    EXPECT_EQ(judged(set, computed(set), DataType::float16).outside, 0u);
    EXPECT_EQ(judged(set, computed(set, Mistake::statistics_as_half), DataType::float16).outside, 0u);
}

TEST(NormalizationBudget, DoesNotHoldMistakes) {
    struct Row {
        const char* what;
        Mistake mistake;
        DataType type;
        std::size_t count;
        float offset;
        float spread;
        float epsilon;
    };
    constexpr auto f32 = DataType::float32;
    constexpr auto f16 = DataType::float16;
    const Row rows[] = {
        // The relative error 1 - sqrt((n - 1) / n) is about 1 / 2n. For FLOAT16, whose variance and result may each be
        // rounded towards zero, it is hidden if n exceeds some hundred.
        {"n - 1", Mistake::sample_variance, f32, 2, 0, 1, 1e-5f},
        {"n - 1", Mistake::sample_variance, f32, 1000, 0, 1, 1e-5f},
        {"n - 1, offset", Mistake::sample_variance, f32, 16, 1000, 1, 1e-5f},
        {"n - 1", Mistake::sample_variance, f16, 16, 0, 1, 1e-5f},
        {"epsilon outside the root", Mistake::epsilon_outside, f32, 100, 0, 1, 1e-3f},
        {"epsilon outside the root", Mistake::epsilon_outside, f32, 100, 10, 1, 1e-3f},
        {"epsilon outside the root", Mistake::epsilon_outside, f16, 100, 0, 1, 0.25f},
        {"no epsilon", Mistake::epsilon_forgotten, f32, 100, 0, 1, 1e-4f},
        {"no epsilon", Mistake::epsilon_forgotten, f16, 100, 0, 0.1f, 1e-2f},
        // In FP32, squares of 4096 are too coarse to contain a variance of 1.
        {"mean of squares", Mistake::variance_from_squares, f32, 100, 4096, 1, 1e-5f},
        {"no division", Mistake::variance_not_normalized, f32, 100, 0, 2, 1e-5f},
        {"no division", Mistake::variance_not_normalized, f16, 100, 0, 2, 1e-5f},
        {"bias scaled too", Mistake::bias_before_scale, f32, 100, 0, 1, 1e-5f},
        {"bias scaled too", Mistake::bias_before_scale, f16, 100, 0, 1, 1e-5f},
        {"sums truncated to FLOAT16", Mistake::half_precision_sums, f16, 1000, 4, 1, 1e-5f},
        {"variance of 10^6 in FLOAT16", Mistake::variance_overflows_half, f16, 100, 0, 1000, 1e-5f},
        {"subnormals of FLOAT16 flushed", Mistake::subnormals_flushed, f16, 100, 0, 0x1p-17f, 1e-12f},
    };
    for (const Row& row : rows) {
        Draw draw(23);
        for (int i = 0; i < 50; ++i) {
            Set set = draw.set(row.count, row.offset, row.spread, row.type);
            set.epsilon = row.epsilon;
            set.scale = 1.5;
            set.bias = row.mistake == Mistake::bias_before_scale ? 0.5f : 0.0f;
            ASSERT_EQ(judged(set, computed(set), row.type).outside, 0u) << row.what;
            ASSERT_GT(judged(set, computed(set, row.mistake), row.type).outside, 0u)
                << row.what << ", " << row.count << " elements of " << name(row.type);
        }
    }
}

TEST(NormalizationBudget, Fp32SubnormalsMayBeFlushed) {
    Draw draw(24);
    Set set = draw.set(100, 0, 1e-39f, DataType::float32);
    set.bias = 0;
    const std::vector<float> flushed(set.values.size(), 0.0f);
    EXPECT_EQ(judged(set, flushed, DataType::float32).outside, 0u);
    // Normal numbers must not be flushed.
    set = draw.set(100, 0, 1e-36f, DataType::float32);
    set.bias = 0;
    EXPECT_GT(judged(set, flushed, DataType::float32).outside, 0u);
}

/// -1 and 1, four of each.
TEST(NormalizationBudget, ByHand) {
    const Set set{.values = {1, -1, 1, -1, -1, 1, -1, 1}, .scale = 2, .bias = 8, .epsilon = 0};
    const cpu::StatisticsRange statistics = statistics_range(set, 0, DataType::float32);
    // Eight numbers, the division and its reciprocal: ten roundings of a partial sum of at most 4, which are
    // independent. That is more than five in the worst direction (a tree has three additions on top of each other), and
    // less than nine.
    const double off = 7 * std::sqrt(10.0 / 3) * 0x1p-24 * 4 / 8;
    EXPECT_NEAR(statistics.mean.low, -off, 1e-20);
    EXPECT_NEAR(statistics.mean.high, off, 1e-20);
    NormalizedElement element = exact_elements(set)[0];
    EXPECT_EQ(cpu::normalized(element), 10);  // 2 * 1 * 1 + 8
    const auto range = [&](const FusedActivation& function, DataType type) {
        return cpu::accepted_range(element.centred, element, statistics, function, type);
    };
    // The mean is off by 2.5 epsilons, half of the variance by 4, root and reciprocal by 1 each, product and difference
    // by 2. The scale doubles that. The bias makes one rounding 8 epsilons.
    const Interval single = range(FusedActivation(nullptr), DataType::float32);
    EXPECT_LE(single.high, 10 + 32 * 0x1p-23);
    EXPECT_GE(single.low, 10 - 32 * 0x1p-23);
    EXPECT_GE(single.high, 10 + 16 * 0x1p-23);
    // Half a ULP of FLOAT16 is more than that. Rounding towards zero gives the next smaller number.
    const Interval half = range(FusedActivation(nullptr), DataType::float16);
    EXPECT_EQ(half.high, 10);
    EXPECT_EQ(half.low, 10 - 0x1p-7);
    // LINEAR with a slope of 10 makes the range ten times as wide.
    const FusedActivation linear(activation("ACTIVATION_LINEAR", {{"Alpha", 10}, {"Beta", 1}}).get());
    const Interval after = range(linear, DataType::float32);
    EXPECT_NEAR(after.high - 101, 10 * (single.high - 10), 0x1p-16);
    EXPECT_NEAR(101 - after.low, 10 * (10 - single.low), 0x1p-16);
    // The only thing known about a NaN is that it is NaN.
    element.centred = std::numeric_limits<double>::quiet_NaN();
    for (const FusedActivation& function : {FusedActivation(nullptr), linear}) {
        EXPECT_TRUE(range(function, DataType::float32).nan);
        EXPECT_FALSE(range(function, DataType::float32).has_numbers());
    }
}

TEST(NormalizationBudget, HoldsActivationsOfFp32Implementations) {
    struct Row {
        std::string_view name;
        std::vector<Setting> settings;
        float (*documented)(float) = nullptr;
    };
    const Row rows[] = {
        {"ACTIVATION_RELU", {}, [](float x) { return std::max(0.0f, x); }},
        {"ACTIVATION_TANH", {}, [](float x) { return std::tanh(x); }},
        {"ACTIVATION_SIGMOID", {}, [](float x) { return 1 / (1 + std::exp(-x)); }},
        {"ACTIVATION_GELU", {}, [](float x) { return 0.5f * x * (1 + std::erf(x / std::sqrt(2.0f))); }},
        {"ACTIVATION_ELU", {{"Alpha", 1.5}}, [](float x) { return x >= 0 ? x : 1.5f * (std::exp(x) - 1); }},
        {"ACTIVATION_LINEAR", {{"Alpha", 3}, {"Beta", -1}}, [](float x) { return 3 * x - 1; }},
    };
    for (const DataType type : {DataType::float32, DataType::float16}) {
        for (const Row& row : rows) {
            const FusedActivation function(activation(row.name, row.settings).get());
            Draw draw(25);
            for (int i = 0; i < 100; ++i) {
                const Set set = draw.set(draw.count(0, 8), std::exp2(draw.uniform(-3, 9)), 1, type);
                const auto elements = exact_elements(set);
                const cpu::StatisticsRange statistics = statistics_range(set, elements.front().mean, type);
                const auto results = computed(set);
                for (std::size_t j = 0; j < elements.size(); ++j) {
                    float result = row.documented(results[j]);
                    result = type == DataType::float16 ? as_float16(result) : result;
                    const Interval range =
                        cpu::accepted_range(double{set.values[j]}, elements[j], statistics, function, type);
                    ASSERT_LE(range.low, result) << row.name;
                    ASSERT_GE(range.high, result) << row.name;
                }
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::normalized_element_test

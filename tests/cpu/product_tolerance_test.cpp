// Tests of engine/cpu/product: the results that implementations may have instead of the reference's value.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/core/float16.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::product_tolerance_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float nan_float = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite_float = std::numeric_limits<float>::infinity();

struct Gemm {
    std::vector<float> a;
    std::vector<float> b;
    std::vector<float> c = {};
    float alpha = 1;
    float beta = 1;

    /// The reference's result for one row and one column.
    [[nodiscard]] cpu::Reference reference(operators::FieldValue activation = {}) const {
        const auto depth = static_cast<std::uint32_t>(a.size());
        const Tensor left = tensor_of<float>(real({1, depth}), a);
        const Tensor right = tensor_of<float>(real({depth, 1}), b);
        const Tensor addend = tensor_of<float>(real({1, 1}), c.empty() ? std::vector<float>{0} : c);
        const Descriptor descriptor =
            describe("GEMM", {{"ATensor", left.desc},
                              {"BTensor", right.desc},
                              {"CTensor", c.empty() ? operators::FieldValue() : operators::FieldValue(addend.desc)},
                              {"OutputTensor", real({1, 1})},
                              {"TransA", 0},
                              {"TransB", 0},
                              {"Alpha", alpha},
                              {"Beta", beta},
                              {"FusedActivation", std::move(activation)}});
        return reference_of(descriptor, {&left, &right, c.empty() ? nullptr : &addend});
    }
};

/// FP32 results in several orders: factor applied to the terms or to the sum, addend first or last, products rounded or
/// fused, rounding to nearest or towards zero.
std::vector<float> legal_results(const Gemm& gemm) {
    const auto truncated = [](double exact) {
        const auto nearest = static_cast<float>(exact);
        return std::fabs(double{nearest}) > std::fabs(exact) ? std::nextafter(nearest, 0.0F) : nearest;
    };
    const auto to_nearest = [](double exact) { return static_cast<float>(exact); };
    const std::function<float(double)> roundings[] = {to_nearest, truncated};
    std::vector<float> results;
    for (const auto& round : roundings) {
        for (int way = 0; way < 24; ++way) {
            const bool factor_first = way % 2 == 1;
            const bool addend_first = way / 2 % 2 == 1;
            const bool fused = way / 4 % 2 == 1;
            const int order = way / 8;
            const float addend = gemm.c.empty() ? 0 : round(double{gemm.beta} * double{gemm.c[0]});
            float sum = addend_first && factor_first ? addend : 0;
            std::vector<float> pairs;
            for (std::size_t i = 0; i < gemm.a.size(); ++i) {
                const std::size_t k = order == 1 ? gemm.a.size() - 1 - i : i;
                const float a = factor_first ? round(double{gemm.alpha} * double{gemm.a[k]}) : gemm.a[k];
                const double product = double{a} * double{gemm.b[k]};
                if (order == 2) {
                    pairs.push_back(round(product));
                } else {
                    sum = fused ? round(product + double{sum}) : round(double{round(product)} + double{sum});
                }
            }
            while (pairs.size() > 1) {
                std::vector<float> halves;
                for (std::size_t i = 0; i < pairs.size(); i += 2) {
                    halves.push_back(i + 1 < pairs.size() ? round(double{pairs[i]} + double{pairs[i + 1]}) : pairs[i]);
                }
                pairs = std::move(halves);
            }
            sum = pairs.empty() ? sum : round(double{sum} + double{pairs[0]});
            sum = factor_first ? sum : round(double{gemm.alpha} * double{sum});
            results.push_back(addend_first && factor_first ? sum : round(double{sum} + double{addend}));
        }
    }
    return results;
}

TEST(ProductTolerance, HasEveryLegalImplementation) {
    Random random(8);
    for (int round = 0; round < 400; ++round) {
        Gemm gemm;
        const int depth = random.pick(1, 40);
        const float offset = random.one_in(2) ? 0.0F : 3.0F;
        for (int k = 0; k < depth; ++k) {
            gemm.a.push_back(random.normal() + offset);
            gemm.b.push_back(random.normal() * (random.one_in(10) ? 1e6F : 1.0F));
        }
        gemm.alpha = random.one_in(2) ? 1.0F : random.normal();
        if (random.one_in(2)) {
            gemm.c = {random.normal() * 10};
            gemm.beta = random.one_in(2) ? 1.0F : random.normal();
        }
        const auto reference = gemm.reference();
        const cpu::Interval range = accepted(reference, 0);
        double magnitude = gemm.c.empty() ? 0 : std::fabs(double{gemm.beta} * double{gemm.c[0]});
        for (std::size_t k = 0; k < gemm.a.size(); ++k) {
            magnitude += std::fabs(double{gemm.alpha} * double{gemm.a[k]} * double{gemm.b[k]});
        }
        for (const float result : legal_results(gemm)) {
            ASSERT_TRUE(range.contains(double{result})) << result << " of depth " << depth;
        }
        // No wider than one rounding error of the magnitude per step.
        EXPECT_LE(range.high - range.low, 2.2 * (depth + 4) * 0x1p-23 * magnitude);
    }
}

/// In FP32, 1e8 + 1 - 1e8 is 0 or 1, depending on the order.
TEST(ProductTolerance, SumsInAnyOrder) {
    const auto reference = Gemm{.a = {1e8F, 1, -1e8F}, .b = {1, 1, 1}}.reference();
    EXPECT_EQ(values_of<float>(reference.outputs[0])[0], 1);
    EXPECT_LE(accepted(reference, 0).low, 0);
    EXPECT_LE(accepted(reference, 0).high, 64);
    const auto exact = Gemm{.a = {1, 2, 3}, .b = {4, 5, 6}, .c = {0.5F}, .alpha = 0.5F, .beta = -2}.reference();
    EXPECT_EQ(accepted(exact, 0).low, 15);
    EXPECT_EQ(accepted(exact, 0).high, 15);
}

TEST(ProductTolerance, SumsMayOverflow) {
    const auto reference = Gemm{.a = {3e38F, 3e38F}, .b = {1, 1}, .alpha = 0.25F}.reference();
    EXPECT_EQ(values_of<float>(reference.outputs[0])[0], 1.5e38F);
    EXPECT_EQ(accepted(reference, 0).high, infinity);
    const auto opposite = Gemm{.a = {3e38F, 3e38F, -3e38F, -3e38F}, .b = {1, 1, 1, 1}}.reference();
    EXPECT_EQ(values_of<float>(opposite.outputs[0])[0], 0);
    EXPECT_TRUE(accepted(opposite, 0).nan) << "infinity - infinity";
    const auto addend = Gemm{.a = {3e38F}, .b = {1}, .c = {3e38F}, .alpha = -1}.reference();
    EXPECT_EQ(accepted(addend, 0).low, 0);
    EXPECT_EQ(accepted(addend, 0).high, 0);
}

TEST(ProductTolerance, NaNIsWhereTheFormulaHasIt) {
    for (const Gemm& gemm : {Gemm{.a = {nan_float}, .b = {0}}, Gemm{.a = {infinite_float}, .b = {0}},
                             Gemm{.a = {infinite_float, -infinite_float}, .b = {1, 1}},
                             Gemm{.a = {1}, .b = {1}, .c = {infinite_float}, .beta = 0},
                             Gemm{.a = {infinite_float}, .b = {1}, .alpha = 0}}) {
        const auto reference = gemm.reference();
        EXPECT_TRUE(std::isnan(values_of<float>(reference.outputs[0])[0]));
    }
    const auto certain = Gemm{.a = {infinite_float, 1}, .b = {1, 1}}.reference();
    EXPECT_EQ(values_of<float>(certain.outputs[0])[0], infinite_float);
    EXPECT_EQ(certain.slack[0].nan[0], 0);
    EXPECT_EQ(certain.slack[0].finite[0], 0) << "no finite number is right";
}

/// Subnormal numbers may count as zero.
TEST(ProductTolerance, SubnormalNumbers) {
    const float small = 0x1p-130F;
    const auto input = Gemm{.a = {small}, .b = {0x1p20F}}.reference();
    EXPECT_LE(accepted(input, 0).low, 0);
    EXPECT_LT(accepted(input, 0).high, 0x1p-100);
    const auto product = Gemm{.a = {0x1p-70F, 0x1p-70F}, .b = {0x1p-60F, 0x1p-60F}}.reference();
    EXPECT_LE(accepted(product, 0).low, 0);
}

/// An infinite filter element that lies on padding: implementations may multiply it by zero or skip it.
TEST(ProductTolerance, NonFiniteFiltersOnPadding) {
    const Tensor input = tensor_of<float>(real({1, 1, 2}), {1, 2});
    const Tensor filter = tensor_of<float>(real({1, 1, 2}), {infinite_float, 3});
    const auto convolution = [](bool backward, std::uint32_t out) {
        return with(plain_convolution(real({1, 1, 2}), real({1, 1, 2}), real({1, 1, out})),
                    {{"Direction", backward ? 1 : 0}, {"StartPadding", {backward ? 0 : 1}}});
    };
    const auto forward = reference_of(convolution(false, 2), {&input, &filter, nullptr});
    EXPECT_EQ(values_of<float>(forward.outputs[0]), (std::vector<float>{3, infinite_float}));
    EXPECT_EQ(forward.slack[0].nan, (std::vector<std::uint8_t>{1, 0}));
    const auto backward = reference_of(convolution(true, 3), {&input, &filter, nullptr});
    EXPECT_EQ(values_of<float>(backward.outputs[0]), (std::vector<float>{infinite_float, infinite_float, 6}));
    EXPECT_EQ(backward.slack[0].nan, (std::vector<std::uint8_t>{0, 0, 1}));
}

/// The activation is applied to the range of the sum.
TEST(ProductTolerance, OfFusedActivations) {
    const auto reference = Gemm{.a = {1e8F, 1, -1e8F}, .b = {1, 1, 1}}.reference(activation("ACTIVATION_RELU"));
    EXPECT_EQ(accepted(reference, 0).low, 0) << "not below zero";
    EXPECT_GT(accepted(reference, 0).high, 1);
    const auto sigmoid = Gemm{.a = {1, 2}, .b = {1, 0.5F}}.reference(activation("ACTIVATION_SIGMOID"));
    EXPECT_TRUE(accepted(sigmoid, 0).contains(1 / (1 + std::exp(-2.0))));
    EXPECT_LT(accepted(sigmoid, 0).high - accepted(sigmoid, 0).low, 1e-5);
}

TEST(ProductTolerance, OfFusedSoftmaxes) {
    const Tensor a = tensor_of<float>(real({1, 2}), {1, 1});
    const Tensor b = tensor_of<float>(real({2, 3}), {0.5F, 1, -1, 0.25F, 1.5F, 2});
    const Descriptor gemm = describe("GEMM", {{"ATensor", a.desc},
                                              {"BTensor", b.desc},
                                              {"OutputTensor", real({1, 3})},
                                              {"TransA", 0},
                                              {"TransB", 0},
                                              {"Alpha", 1},
                                              {"Beta", 0},
                                              {"FusedActivation", activation("ACTIVATION_SOFTMAX")}});
    const auto reference = reference_of(gemm, {&a, &b, nullptr});
    const std::array<double, 3> x{0.75, 2.5, 1};
    const double sum = std::exp(x[0]) + std::exp(x[1]) + std::exp(x[2]);
    for (std::size_t i = 0; i < 3; ++i) {
        const double exact = std::exp(x[i]) / sum;
        EXPECT_EQ(values_of<float>(reference.outputs[0])[i], static_cast<float>(exact));
        EXPECT_TRUE(accepted(reference, i).contains(exact * (1 + 1e-7)));
        EXPECT_LT(accepted(reference, i).high - accepted(reference, i).low, 1e-5);
    }
}

// ---- sums in FLOAT16 ---------------------------------------------------------------------------------------------

double in_half(double exact) {
    return core::float16_bits_to_double(core::float16_bits_from_double(exact));
}

/// A row times a column, of FLOAT16 numbers.
struct HalfGemm {
    std::vector<double> a;
    std::vector<double> b;
    float alpha = 1;

    [[nodiscard]] cpu::Reference reference(cpu::Accumulation accumulation) const {
        const auto halves = [](core::Dimensions sizes, const std::vector<double>& values) {
            std::vector<core::Float16> rounded(values.begin(), values.end());
            return tensor_of<core::Float16>(tensor(DataType::float16, std::move(sizes)), rounded);
        };
        const auto depth = static_cast<std::uint32_t>(a.size());
        const Tensor left = halves({1, depth}, a);
        const Tensor right = halves({depth, 1}, b);
        const Descriptor descriptor = describe("GEMM", {{"ATensor", left.desc},
                                                        {"BTensor", right.desc},
                                                        {"OutputTensor", tensor(DataType::float16, {1, 1})},
                                                        {"TransA", 0},
                                                        {"TransB", 0},
                                                        {"Alpha", alpha},
                                                        {"Beta", 0}});
        const std::vector<const Tensor*> inputs{&left, &right, nullptr};
        return cpu::compute_reference(descriptor, inputs, accumulation);
    }

    /// The running total is kept in FLOAT16, starting from the first or from the last term.
    [[nodiscard]] double sum(bool backwards) const {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const std::size_t k = backwards ? a.size() - 1 - i : i;
            sum = in_half(sum + in_half(a[k] * b[k]));
        }
        return in_half(in_half(double{alpha}) * sum);
    }

    [[nodiscard]] double magnitude() const {
        double sum = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
            sum += std::fabs(a[k] * b[k]);
        }
        return sum * std::max(1.0, std::fabs(double{alpha}));
    }
};

cpu::Interval accepted_half(const cpu::Reference& reference) {
    const double value = static_cast<double>(values_of<core::Float16>(reference.outputs[0])[0]);
    return {value - reference.slack[0].below[0], value + reference.slack[0].above[0], reference.slack[0].nan[0] != 0};
}

TEST(ProductTolerance, SumsInFloat16AreAcceptedWhereTheyAreAllowed) {
    Random random(16);
    int beyond_fp32 = 0;
    for (int round = 0; round < 400; ++round) {
        HalfGemm gemm{.a = {}, .b = {}, .alpha = random.one_in(2) ? 1.0F : random.normal()};
        const int depth = random.pick(1, 60);
        for (int k = 0; k < depth; ++k) {
            gemm.a.push_back(in_half(double{random.normal()} + (round % 2 == 0 ? 4 : 0)));
            gemm.b.push_back(in_half(double{random.normal()} * (random.one_in(10) ? 0x1p-12 : 1)));
        }
        const auto allowed = gemm.reference(cpu::Accumulation::float16);
        const cpu::Interval narrow = accepted_half(gemm.reference(cpu::Accumulation::fp32));
        const cpu::Interval wide = accepted_half(allowed);
        for (const bool backwards : {false, true}) {
            const double sum = gemm.sum(backwards);
            ASSERT_TRUE(wide.contains(sum)) << sum << " of depth " << depth;
            beyond_fp32 += narrow.contains(sum) ? 0 : 1;
        }
        // No wider than the countable rounding errors, including that of the result.
        const double error = std::expm1((depth + 4) * 0x1p-10) * gemm.magnitude() + (depth + 4) * 0x1p-10;
        EXPECT_LE(wide.high - wide.low, 2.2 * error);
    }
    EXPECT_GT(beyond_fp32, 200) << "what is otherwise too far off";
}

/// In FLOAT16, 2048 + 1 is 2048, however often 1 is added.
TEST(ProductTolerance, OnesAreLostInFloat16) {
    HalfGemm gemm{.a = {2048}, .b = {1}};
    gemm.a.resize(65, 1);
    gemm.b.resize(65, 1);
    EXPECT_EQ(gemm.sum(false), 2048);
    EXPECT_FALSE(accepted_half(gemm.reference(cpu::Accumulation::fp32)).contains(2048));
    const cpu::Interval wide = accepted_half(gemm.reference(cpu::Accumulation::float16));
    EXPECT_TRUE(wide.contains(2048));
    EXPECT_FALSE(wide.contains(1900)) << "nor is everything right";
    EXPECT_FALSE(wide.nan);
}

TEST(ProductTolerance, SumsMayOverflowInFloat16) {
    const HalfGemm gemm{.a = {40000, 40000, -40000}, .b = {1, 1, 1}};
    EXPECT_EQ(gemm.sum(false), infinity);
    const auto allowed = gemm.reference(cpu::Accumulation::float16);
    EXPECT_EQ(static_cast<double>(values_of<core::Float16>(allowed.outputs[0])[0]), 40000);
    EXPECT_EQ(accepted_half(allowed).high, infinity);
    EXPECT_LT(accepted_half(gemm.reference(cpu::Accumulation::fp32)).high, 41000);
    const HalfGemm with_nan{.a = {std::nan(""), 1}, .b = {1, 1}};
    EXPECT_EQ(with_nan.reference(cpu::Accumulation::float16).slack[0].below,
              with_nan.reference(cpu::Accumulation::fp32).slack[0].below);
}

// ---- numbers that integers stand for -----------------------------------------------------------------------------

struct IntegerToFloat {
    DataType type = DataType::uint8;
    DataType output = DataType::float32;
    bool has_bias = false;

    [[nodiscard]] Descriptor describe_depth(std::uint32_t depth) const {
        return describe(
            "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
            {{"ATensor", tensor(type, {1, depth})},
             {"AScaleTensor", tensor(output, {1})},
             {"AZeroPointTensor", tensor(type, {1})},
             {"BTensor", tensor(type, {depth, 1})},
             {"BScaleTensor", tensor(output, {1})},
             {"BZeroPointTensor", tensor(type, {1})},
             {"BiasTensor", has_bias ? operators::FieldValue(tensor(output, {1, 1})) : operators::FieldValue()},
             {"OutputTensor", tensor(output, {1, 1})}});
    }
};

/// FP32 rounds each number, its difference from the zero point, and the product with its scale.
TEST(ProductTolerance, WideIntegersAreRoundedFirst) {
    const Descriptor descriptor = IntegerToFloat{.type = DataType::int32}.describe_depth(2);
    const Tensor a = tensor_of<std::int32_t>(tensor(DataType::int32, {1, 2}), {16777217, 16777219});
    const Tensor b = tensor_of<std::int32_t>(tensor(DataType::int32, {2, 1}), {1, -1});
    const Tensor one = tensor_of<float>(real({1}), {1});
    const Tensor zero = tensor_of<std::int32_t>(tensor(DataType::int32, {1}), {0});
    const auto reference = reference_of(descriptor, {&a, &one, &zero, &b, &one, &zero, nullptr});
    EXPECT_EQ(values_of<float>(reference.outputs[0])[0], -2);
    EXPECT_TRUE(accepted(reference, 0).contains(-4)) << "16777216 - 16777220";
    EXPECT_FALSE(accepted(reference, 0).contains(1000));
}

/// Numbers and their product may be stored as FLOAT16 before the bias is added.
TEST(ProductTolerance, Float16TensorsOnTheWay) {
    const Descriptor descriptor = IntegerToFloat{.output = DataType::float16, .has_bias = true}.describe_depth(2);
    const auto half = [](float value) { return core::Float16(value); };
    const Tensor a = tensor_of<std::uint8_t>(tensor(DataType::uint8, {1, 2}), {100, 3});
    const Tensor b = tensor_of<std::uint8_t>(tensor(DataType::uint8, {2, 1}), {255, 1});
    const Tensor scale = tensor_of<core::Float16>(tensor(DataType::float16, {1}), {half(0.1F)});
    const Tensor zero = tensor_of<std::uint8_t>(tensor(DataType::uint8, {1}), {0});
    const Tensor bias = tensor_of<core::Float16>(tensor(DataType::float16, {1, 1}), {half(-254)});
    const auto reference = reference_of(descriptor, {&a, &scale, &zero, &b, &scale, &zero, &bias});
    const auto value = static_cast<double>(values_of<core::Float16>(reference.outputs[0])[0]);
    EXPECT_NEAR(value, 0.9, 0.1);
    EXPECT_GE(reference.slack[0].below[0], value - 0.674316) << "what DirectML has";
    EXPECT_LT(reference.slack[0].below[0], 2);
}

}  // namespace
}  // namespace dmlconform::tests::product_tolerance_test

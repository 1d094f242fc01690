// Tests that ranges are single values where no order of operations rounds, and that other ranges are no wider than the
// countable rounding errors: a value just outside must fail. Values are derived by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/core/float16.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::narrow_ranges_test {
namespace {

using core::DataType;
using core::Float16;
using core::Tensor;
using cpu::Interval;
using operators::Descriptor;

constexpr float infinite = std::numeric_limits<float>::infinity();

core::TensorDesc half(core::Dimensions sizes) {
    return tensor(DataType::float16, std::move(sizes));
}

Tensor halves(core::Dimensions sizes, const std::vector<double>& values) {
    return tensor_of<Float16>(half(std::move(sizes)), std::vector<Float16>(values.begin(), values.end()));
}

Interval accepted_half(const cpu::Reference& reference, std::size_t i) {
    const auto value = static_cast<double>(values_of<Float16>(reference.outputs[0])[i]);
    return {value - reference.slack[0].below[i], value + reference.slack[0].above[i], reference.slack[0].nan[i] != 0};
}

double width(const Interval& range) {
    return range.high - range.low;
}

// ---- products ----------------------------------------------------------------------------------------------------

/// 3 * 683 - 2048 is 1. It would be 0 if the product were stored as FLOAT16, which is allowed only before an
/// activation.
TEST(NarrowRanges, OfAGemmWithoutActivation) {
    const Tensor a = halves({1, 1}, {3});
    const Tensor b = halves({1, 1}, {683});
    const Tensor c = halves({1, 1}, {-2048});
    const auto range = [&](operators::FieldValue activation) {
        const Descriptor gemm = describe("GEMM", {{"ATensor", half({1, 1})},
                                                  {"BTensor", half({1, 1})},
                                                  {"CTensor", half({1, 1})},
                                                  {"OutputTensor", half({1, 1})},
                                                  {"TransA", 0},
                                                  {"TransB", 0},
                                                  {"Alpha", 1},
                                                  {"Beta", 1},
                                                  {"FusedActivation", std::move(activation)}});
        return accepted_half(reference_of(gemm, a, b, c), 0);
    };
    EXPECT_EQ(range({}).low, 1);
    EXPECT_EQ(range({}).high, 1);
}

/// (255 - 254) * 0.1 is within one rounding of 0.1, while 25.5 - 25.4 in FP32 is 0.100000381.
TEST(NarrowRanges, OfBytesWithZeroPoints) {
    const Tensor a = tensor_of<std::uint8_t>(bytes({1, 1}), {255});
    const Tensor a_scale = tensor_of<float>(real({1}), {0.1F});
    const Tensor a_zero = tensor_of<std::uint8_t>(bytes({1}), {254});
    const Tensor b = tensor_of<std::uint8_t>(bytes({1, 1}), {1});
    const Tensor one = tensor_of<float>(real({1}), {1});
    const Descriptor product = describe("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", {{"ATensor", a.desc},
                                                                             {"AScaleTensor", a_scale.desc},
                                                                             {"AZeroPointTensor", a_zero.desc},
                                                                             {"BTensor", b.desc},
                                                                             {"BScaleTensor", one.desc},
                                                                             {"OutputTensor", real({1, 1})}});
    const auto reference =
        cpu::compute_reference(product, std::vector<const Tensor*>{&a, &a_scale, &a_zero, &b, &one, nullptr, nullptr});
    const Interval range = accepted(reference, 0);
    EXPECT_TRUE(range.contains(double{0.1F}));
    EXPECT_FALSE(range.contains(double{25.5F - 254 * 0.1F}));
    EXPECT_FALSE(range.contains(0.1000001)) << "thirteen roundings away";
    EXPECT_LT(width(range), 1e-7);
}

// ---- windows -----------------------------------------------------------------------------------------------------

/// Implementations may divide by the power, or multiply by the negative power.
TEST(NarrowRanges, OfLocalResponsesHoldBothWays) {
    for (const float x : {0.3F, 1.7F, 12.5F, -3.1F}) {
        for (const float beta : {0.5F, 0.75F, 1.0F, 2.0F}) {
            const Descriptor response = describe("LOCAL_RESPONSE_NORMALIZATION", {{"InputTensor", real({1, 1, 1, 1})},
                                                                                  {"OutputTensor", real({1, 1, 1, 1})},
                                                                                  {"CrossChannel", 1},
                                                                                  {"LocalSize", 1},
                                                                                  {"Alpha", 0.7},
                                                                                  {"Beta", beta},
                                                                                  {"Bias", 1.3}});
            const Interval range = accepted(reference_of(response, tensor_of<float>(real({1, 1, 1, 1}), {x})), 0);
            const float base = 1.3F + 0.7F * (x * x);
            const float power = std::pow(base, beta);
            EXPECT_TRUE(range.contains(double{x / power})) << x << ' ' << beta;
            EXPECT_TRUE(range.contains(double{x * (1 / power)})) << x << ' ' << beta;
            EXPECT_TRUE(range.contains(double{x * std::pow(base, -beta)})) << x << ' ' << beta;
            EXPECT_FALSE(range.contains(double{x / power} * 1.0001)) << x << ' ' << beta;
        }
    }
}

/// The gradient is 10^23 - 2 * 10^-30 * x * sum with x = 10^10 and a sum of 10^36. Their product overflows if it is
/// computed first.
TEST(NarrowRanges, OfLocalResponseGradientsThatMayOverflow) {
    const auto one = real({1, 1, 1, 1});
    const Descriptor gradient = describe("LOCAL_RESPONSE_NORMALIZATION_GRAD", {{"InputTensor", one},
                                                                               {"InputGradientTensor", one},
                                                                               {"OutputGradientTensor", one},
                                                                               {"CrossChannel", 1},
                                                                               {"LocalSize", 1},
                                                                               {"Alpha", 1e-30},
                                                                               {"Beta", 1},
                                                                               {"Bias", 1e-3}});
    const Interval range =
        accepted(reference_of(gradient, tensor_of<float>(one, {1e10F}), tensor_of<float>(one, {1e20F})), 0);
    EXPECT_EQ(range.low, -double{infinite});
    EXPECT_LT(range.high, 1.01e23);
}

/// Alpha / LocalSize is subnormal, so that it may be flushed to zero, and the sum over the region with it.
TEST(NarrowRanges, OfLocalResponseGradientsWhoseAlphaIsFlushed) {
    const auto one = real({1, 1, 1, 1});
    const Descriptor gradient = describe("LOCAL_RESPONSE_NORMALIZATION_GRAD", {{"InputTensor", one},
                                                                               {"InputGradientTensor", one},
                                                                               {"OutputGradientTensor", one},
                                                                               {"CrossChannel", 0},
                                                                               {"LocalSize", 2},
                                                                               {"Alpha", 1.17549435e-38F},
                                                                               {"Beta", 3.125F},
                                                                               {"Bias", 65504.F}});
    constexpr float x = 0x1p63F;
    const Interval range = accepted(reference_of(gradient, tensor_of<float>(one, {x}), tensor_of<float>(one, {1})), 0);
    const double own = std::pow(65504.5, -3.125);
    EXPECT_TRUE(range.contains(own)) << "without the sum";
    EXPECT_TRUE(range.contains(own * (1 - 3.125 / 65504.5))) << "with the sum";
    EXPECT_FALSE(range.contains(own * 1.0001));
    EXPECT_FALSE(range.contains(own * 0.9998));
}

/// 1 at weight 1, and an infinity at weight 0 or more.
TEST(NarrowRanges, OfUpsamplingBesideAnInfinity) {
    const Descriptor upsample = describe("UPSAMPLE_2D", {{"InputTensor", real({1, 1, 1, 2})},
                                                         {"OutputTensor", real({1, 1, 1, 4})},
                                                         {"ScaleSize", operators::FieldValue(operators::Size2D{2, 1})},
                                                         {"InterpolationMode", 1}});
    const auto reference = reference_of(upsample, tensor_of<float>(real({1, 1, 1, 2}), {1, infinite}));
    EXPECT_EQ(values_of<float>(reference.outputs[0]), (std::vector<float>{1, infinite, infinite, infinite}));
    EXPECT_TRUE(accepted(reference, 0).nan) << "an infinity times zero";
    EXPECT_EQ(accepted(reference, 0).high, 1);
    const auto column =
        reference_of(describe("UPSAMPLE_2D", {{"InputTensor", real({1, 1, 2, 1})},
                                              {"OutputTensor", real({1, 1, 4, 2})},
                                              {"ScaleSize", operators::FieldValue(operators::Size2D{2, 2})},
                                              {"InterpolationMode", 1}}),
                     tensor_of<float>(real({1, 1, 2, 1}), {infinite, 1}));
    EXPECT_EQ(values_of<float>(column.outputs[0])[2], infinite) << "not infinity minus infinity";
}

/// A region whose end overflows 32 bits may be any part of the image, but must not read outside the image.
TEST(NarrowRanges, OfRegionsFarOut) {
    const Descriptor pooling =
        describe("ROI_POOLING", {{"InputTensor", real({1, 1, 1, 3})},
                                 {"ROITensor", real({1, 1, 1, 5})},
                                 {"OutputTensor", real({1, 1, 1, 1})},
                                 {"SpatialScale", 1},
                                 {"PooledSize", operators::FieldValue(operators::Size2D{1, 1})}});
    const Tensor image = tensor_of<float>(real({1, 1, 1, 3}), {-5, -2, -7});
    const auto alternatives = [&](float end) {
        return reference_of(pooling, image, tensor_of<float>(real({1, 1, 1, 5}), {0, 0, 0, end, 0}))
            .slack[0]
            .alternatives.size();
    };
    EXPECT_EQ(alternatives(1e12F), 4u) << "three elements, and 0";
    EXPECT_EQ(alternatives(infinite), 4u);
    EXPECT_EQ(alternatives(2), 0u);
}

// ---- functions ---------------------------------------------------------------------------------------------------

/// 1 to the power of NaN is 1 in IEEE 754, and NaN as Direct3D's exp2(y * log2(x)).
TEST(NarrowRanges, OfOneToThePowerOfNaN) {
    const Descriptor power = describe("ELEMENT_WISE_POW", {{"InputTensor", real({1, 1, 1, 1})},
                                                           {"ExponentTensor", real({1, 1, 1, 1})},
                                                           {"OutputTensor", real({1, 1, 1, 1})}});
    const Tensor one = tensor_of<float>(real({1, 1, 1, 1}), {1});
    const Tensor nan = tensor_of<float>(real({1, 1, 1, 1}), {std::numeric_limits<float>::quiet_NaN()});
    const Interval range = accepted(reference_of(power, one, nan), 0);
    EXPECT_TRUE(range.nan);
    EXPECT_FALSE(range.contains(0.5));
    EXPECT_FALSE(range.contains(2));
}

/// A - B * trunc(A / B) is NaN, while IEEE 754's remainder is the dividend.
TEST(NarrowRanges, OfRemaindersByInfinity) {
    const Descriptor modulus = describe(
        "ELEMENT_WISE_MODULUS_TRUNCATE",
        {{"ATensor", real({1, 1, 1, 2})}, {"BTensor", real({1, 1, 1, 2})}, {"OutputTensor", real({1, 1, 1, 2})}});
    const auto reference = reference_of(modulus, tensor_of<float>(real({1, 1, 1, 2}), {2.5F, 2.5F}),
                                        tensor_of<float>(real({1, 1, 1, 2}), {infinite, 2}));
    EXPECT_TRUE(std::isnan(values_of<float>(reference.outputs[0])[0]));
    EXPECT_EQ(reference.slack[0].nan[0], 2);
    EXPECT_EQ(reference.slack[0].above[0], 2.5);
    EXPECT_EQ(reference.slack[0].below[0], 0);
    EXPECT_EQ(reference.slack[0].nan[1], 0);
}

/// Each sum is rounded once, so at most the neighbours are accepted.
TEST(NarrowRanges, OfExactSums) {
    const auto sum = [](std::vector<float> terms) {
        const auto count = static_cast<std::uint32_t>(terms.size());
        const Descriptor reduce = describe(
            "REDUCE",
            {{"Function", 10}, {"InputTensor", real({1, count})}, {"OutputTensor", real({1, 1})}, {"Axes", {1}}});
        return accepted(reference_of(reduce, tensor_of<float>(real({1, count}), std::move(terms))), 0);
    };
    const Interval exact = sum({1, 2, 3, 4});
    EXPECT_EQ(exact.low, 10);
    EXPECT_EQ(exact.high, 10);
    const Interval rounded = sum({1, 0x1p-24F});
    EXPECT_TRUE(rounded.contains(1));
    EXPECT_LE(rounded.high, 1 + 0x1p-22);
    EXPECT_GE(rounded.low, 1 - 0x1p-22);
}

Interval reduced(std::uint32_t function, std::vector<float> terms) {
    const auto count = static_cast<std::uint32_t>(terms.size());
    const Descriptor reduce = describe(
        "REDUCE",
        {{"Function", function}, {"InputTensor", real({1, count})}, {"OutputTensor", real({1, 1})}, {"Axes", {1}}});
    return accepted(reference_of(reduce, tensor_of<float>(real({1, count}), std::move(terms))), 0);
}

/// In some orders, partial sums of {-3e38, -3e38, 3e38} are below FP32's range. Those of {2.5e38, -1e38} never are
/// beyond it.
TEST(NarrowRanges, OfSumsThatMayOverflow) {
    constexpr std::uint32_t sum = 10;
    EXPECT_EQ(reduced(sum, {-3e38F, -3e38F, 3e38F}).low, -double{infinite});
    EXPECT_LT(reduced(sum, {-3e38F, -3e38F, 3e38F}).high, 0);
    EXPECT_EQ(reduced(sum, {3e38F, 3e38F, -3e38F}).high, double{infinite});
    EXPECT_LT(reduced(sum, {2.5e38F, -1e38F}).high, 1.6e38);
    EXPECT_GT(reduced(sum, {-2.5e38F, 1e38F}).low, -1.6e38);
}

/// The same for products. Where a partial product is subnormal, it may be flushed, or rounded up by a third.
TEST(NarrowRanges, OfProductsThatMayOverflow) {
    constexpr std::uint32_t product = 9;
    EXPECT_EQ(reduced(product, {0x1p60F, 0x1p60F, 0x1p-60F}).low, 0x1p60);
    EXPECT_EQ(reduced(product, {0x1p60F, 0x1p60F, 0x1p-60F}).high, 0x1p60);
    EXPECT_EQ(reduced(product, {0x1p70F, 0x1p70F, 0x1p-60F}).high, double{infinite});
    EXPECT_EQ(reduced(product, {0x1p-70F, 0x1p-60F, 0x1p100F}).low, 0);
    EXPECT_EQ(reduced(product, {0x1p-60F, 0x1p-60F, 0x1p100F}).low, 0x1p-20);
    EXPECT_GE(reduced(product, {0x1.8p-100F, 0x1p-50F, 0x1p100F}).high, 0x1p-49);
}

/// 2^24 + 1 + 1 is 2^24 if the ones are added one by one.
TEST(NarrowRanges, OfProductsThatJustRound) {
    const Descriptor gemm = describe("GEMM", {{"ATensor", real({1, 3})},
                                              {"BTensor", real({3, 1})},
                                              {"OutputTensor", real({1, 1})},
                                              {"TransA", 0},
                                              {"TransB", 0},
                                              {"Alpha", 1},
                                              {"Beta", 0}});
    const auto range = [&](float first) {
        const Tensor a = tensor_of<float>(real({1, 3}), {first, 1, 1});
        const Tensor b = tensor_of<float>(real({3, 1}), {4096, 1, 1});
        return accepted(reference_of(gemm, std::vector<const Tensor*>{&a, &b, nullptr}), 0);
    };
    EXPECT_TRUE(range(4096).contains(0x1p24));
    EXPECT_TRUE(range(4096).contains(0x1p24 + 2));
    EXPECT_EQ(width(range(4095)), 0);
}

// ---- normalisation -----------------------------------------------------------------------------------------------

/// The variance of +-23 * 2^-13 is 132.25 * 2^-24, which would be off by 0.2 % as a subnormal FLOAT16 number.
TEST(NarrowRanges, OfSmallVariancesInFloat16) {
    const Descriptor normalise = describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", half({1, 2})},
                                                                           {"OutputTensor", half({1, 2})},
                                                                           {"Axes", {1}},
                                                                           {"NormalizeVariance", 1},
                                                                           {"Epsilon", 0}});
    const Tensor x = halves({1, 2}, {-23 * 0x1p-13, 23 * 0x1p-13});
    const auto reference = reference_of(normalise, std::vector<const Tensor*>{&x, nullptr, nullptr});
    EXPECT_EQ(accepted_half(reference, 1).high, 1);
    EXPECT_EQ(accepted_half(reference, 1).low, 1 - 0x1p-11);
}

/// Normalised, with {mean, variance} as outputs.
cpu::Reference trained(const std::vector<float>& x, float scale, float bias, const std::vector<float>& added) {
    const auto desc = real({1, static_cast<std::uint32_t>(x.size())});
    const Descriptor training = describe("BATCH_NORMALIZATION_TRAINING", {{"InputTensor", desc},
                                                                          {"ScaleTensor", real({1, 1})},
                                                                          {"BiasTensor", real({1, 1})},
                                                                          {"FusedAddTensor", desc},
                                                                          {"OutputTensor", desc},
                                                                          {"OutputMeanTensor", real({1, 1})},
                                                                          {"OutputVarianceTensor", real({1, 1})},
                                                                          {"Epsilon", 0}});
    return reference_of(training, tensor_of<float>(desc, x), tensor_of<float>(real({1, 1}), {scale}),
                        tensor_of<float>(real({1, 1}), {bias}), tensor_of<float>(desc, added));
}

/// A mean that is off by e adds e * e to the variance.
TEST(NarrowRanges, OfVariancesAboutAMeanThatIsOff) {
    std::vector<float> x;
    double mean = 0;
    for (int i = 0; i < 64; ++i) {
        x.push_back(static_cast<float>(5000 + 0.01 * std::sin(i)));
        mean += double{x.back()} / 64;
    }
    double variance = 0;
    for (const float number : x) {
        variance += (double{number} - mean) * (double{number} - mean) / 64;
    }
    const auto reference = trained(x, 1, 0, std::vector<float>(64));
    const double off = std::max(accepted(reference, 0, 1).high - mean, mean - accepted(reference, 0, 1).low);
    EXPECT_GT(off * off, variance) << "large enough to be seen";
    EXPECT_LE(accepted(reference, 0, 2).high, variance + off * off + 2 * 70 * 0x1p-23 * (variance + off * off));
}

/// -12 + (5 + 10^8) is 16 below 10^8 if all is rounded towards zero, because numbers there are multiples of 8.
TEST(NarrowRanges, OfAddendsThatAreAddedToTheBiasFirst) {
    const Interval range = accepted(trained({-1, 1}, 12, 5, {1e8F, 1e8F}), 0);
    EXPECT_TRUE(range.contains(99999984));
    EXPECT_FALSE(range.contains(99999960));
}

// ---- averages ----------------------------------------------------------------------------------------------------

/// The average of one window.
Interval pooled(const std::vector<float>& terms) {
    const auto count = static_cast<std::uint32_t>(terms.size());
    const Descriptor pooling = describe("AVERAGE_POOLING", {{"InputTensor", real({1, 1, 1, count})},
                                                            {"OutputTensor", real({1, 1, 1, 1})},
                                                            {"Strides", {1, 1}},
                                                            {"WindowSize", {1, count}},
                                                            {"StartPadding", {0, 0}},
                                                            {"EndPadding", {0, 0}},
                                                            {"IncludePadding", 0}});
    return accepted(reference_of(pooling, tensor_of<float>(real({1, 1, 1, count}), terms)), 0);
}

/// Sums are divided by the count, or multiplied by its reciprocal, with any rounding.
TEST(NarrowRanges, OfAveragesHoldBothWays) {
    for (std::uint32_t count = 3; count < 60; ++count) {
        for (float sum = 1; sum < 40; ++sum) {
            std::vector<float> terms(count);
            terms[0] = sum;
            constexpr std::uint32_t average = 2;
            const double reciprocal = 1.0 / count;
            const auto nearest = static_cast<float>(reciprocal);
            const float lower = double{nearest} > reciprocal ? std::nextafter(nearest, 0.0F) : nearest;
            const double product = double{sum} * double{lower};
            const auto rounded = static_cast<float>(product);
            for (const Interval& range : {reduced(average, terms), pooled(terms)}) {
                EXPECT_TRUE(range.contains(double{double{rounded} > product ? std::nextafter(rounded, 0.0F) : rounded}))
                    << sum << " / " << count;
                EXPECT_TRUE(range.contains(double{sum / static_cast<float>(count)})) << sum << " / " << count;
                EXPECT_LE(width(range), 6 * 0x1p-23 * double{sum} / count) << sum << " / " << count;
            }
        }
    }
}

/// 201 * 0.50003 is 100.506, which only rounds to 101.
TEST(NarrowRanges, OfQuantisedAveragesBesideATie) {
    const auto one = real({1, 1, 1, 1});
    const Descriptor pooling = describe("QUANTIZED_LINEAR_AVERAGE_POOLING", {{"InputTensor", bytes({1, 1, 1, 1})},
                                                                             {"InputScaleTensor", one},
                                                                             {"OutputScaleTensor", one},
                                                                             {"OutputTensor", bytes({1, 1, 1, 1})},
                                                                             {"Strides", {1, 1}},
                                                                             {"WindowSize", {1, 1}},
                                                                             {"StartPadding", {0, 0}},
                                                                             {"EndPadding", {0, 0}},
                                                                             {"Dilations", {1, 1}}});
    const Tensor input = tensor_of<std::uint8_t>(bytes({1, 1, 1, 1}), {201});
    const Tensor scale = tensor_of<float>(one, {0.50003F});
    const Tensor output_scale = tensor_of<float>(one, {1});
    const auto reference =
        reference_of(pooling, std::vector<const Tensor*>{&input, &scale, nullptr, &output_scale, nullptr});
    EXPECT_EQ(values_of<std::uint8_t>(reference.outputs[0])[0], 101);
    EXPECT_EQ(reference.slack[0].below[0], 0);
    EXPECT_EQ(reference.slack[0].above[0], 0);
}

// ---- attention ---------------------------------------------------------------------------------------------------

/// Scores around 10^7 are off by several units, so each weight may be anything from 0 to 1. The result is still between
/// the values, up to the roundings of each weight and of the sum.
TEST(NarrowRanges, OfAttentionWithLargeScores) {
    const auto keys = real({1, 3, 2});
    const Descriptor attention = describe("MULTIHEAD_ATTENTION", {{"QueryTensor", real({1, 1, 2})},
                                                                  {"KeyTensor", keys},
                                                                  {"ValueTensor", real({1, 3, 1})},
                                                                  {"OutputTensor", real({1, 1, 1})},
                                                                  {"Scale", 1},
                                                                  {"HeadCount", 1}});
    const Tensor query = tensor_of<float>(real({1, 1, 2}), {3001.3F, 2999.1F});
    const Tensor key = tensor_of<float>(keys, {3000.7F, 3001.9F, 3002.1F, 3000.5F, 3001.1F, 3001.5F});
    const Tensor value = tensor_of<float>(real({1, 3, 1}), {1, 2, 4});
    std::vector<const Tensor*> inputs(attention.inputs().size());
    inputs[0] = &query;
    inputs[1] = &key;
    inputs[2] = &value;
    const Interval range = accepted(reference_of(attention, inputs), 0);
    EXPECT_GT(width(range), 0.5) << "weights are not known";
    EXPECT_GE(range.low, 1 - 4 * 12 * 0x1p-23);
    EXPECT_LE(range.high, 4 + 4 * 12 * 0x1p-23);
}

}  // namespace
}  // namespace dmlconform::tests::narrow_ranges_test

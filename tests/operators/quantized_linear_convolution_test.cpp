// engine/operators/rules/quantized_linear_convolution: each rule at its boundary, and what requantisation accepts.
#include "engine/operators/rules/quantized_linear_convolution.h"
#include "engine/cpu/requantise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests {
namespace {

using core::DataType;
using core::FeatureLevel;
using cpu::Quantised;
using cpu::requantise;

/// 4 channels in 2 groups to 6 channels: (5 + 1 + 1 - (2 * 2 + 1)) / 1 + 1 = 3 and (9 - 3) / 2 + 1 = 4.
operators::Descriptor base() {
    const auto one = tensor(DataType::float32, {1, 1, 1, 1});
    return describe("QUANTIZED_LINEAR_CONVOLUTION", {{"InputTensor", tensor(DataType::uint8, {2, 4, 5, 9})},
                                                     {"InputScaleTensor", one},
                                                     {"FilterTensor", tensor(DataType::int8, {6, 2, 3, 3})},
                                                     {"FilterScaleTensor", one},
                                                     {"OutputScaleTensor", one},
                                                     {"OutputTensor", tensor(DataType::uint8, {2, 6, 3, 4})},
                                                     {"Strides", {1, 2}},
                                                     {"Dilations", {2, 1}},
                                                     {"StartPadding", {1, 0}},
                                                     {"EndPadding", {1, 0}},
                                                     {"GroupCount", 2}});
}

std::vector<Setting> one(std::string_view field, DataType type, const core::Dimensions& sizes) {
    return {{field, tensor(type, sizes)}};
}

TEST(QuantizedLinearConvolution, Rules) {
    constexpr std::uint32_t most = 0xffffffff;
    const RuleCase shapes[] = {
        {"three spatial dimensions",
         {{"Strides", {1, 1, 1}}, {"Dilations", {1, 1, 1}}, {"StartPadding", {0, 0, 0}}, {"EndPadding", {0, 0, 0}}},
         "QUANTIZED_LINEAR_CONVOLUTION.dimensionCount"},
        {"one spatial dimension",
         {{"Strides", {1}}, {"Dilations", {1}}, {"StartPadding", {0}}, {"EndPadding", {0}}},
         "QUANTIZED_LINEAR_CONVOLUTION.dimensionCount"},

        {"GroupCount 0", {{"GroupCount", 0}}, "QUANTIZED_LINEAR_CONVOLUTION.groupCount"},
        {"GroupCount divides neither", {{"GroupCount", 5}}, "QUANTIZED_LINEAR_CONVOLUTION.groupCount"},
        {"GroupCount divides only the input's channels",
         {{"GroupCount", 4}},
         "QUANTIZED_LINEAR_CONVOLUTION.groupCount"},
        {"GroupCount divides only the output's channels",
         {{"GroupCount", 3}},
         "QUANTIZED_LINEAR_CONVOLUTION.groupCount"},
        {"GroupCount 1 with the filter's channels",
         {{"GroupCount", 1}, {"FilterTensor", tensor(DataType::int8, {6, 4, 3, 3})}},
         ""},
        {"GroupCount not that of the filter's channels",
         {{"GroupCount", 1}},
         "QUANTIZED_LINEAR_CONVOLUTION.inputChannels"},
        {"filter's channels not those of GroupCount", one("FilterTensor", DataType::int8, {6, 4, 3, 3}),
         "QUANTIZED_LINEAR_CONVOLUTION.inputChannels"},
        {"batches differ", one("OutputTensor", DataType::uint8, {1, 6, 3, 4}), "QUANTIZED_LINEAR_CONVOLUTION.batch"},
        {"number of filters differs", one("FilterTensor", DataType::int8, {4, 2, 3, 3}),
         "QUANTIZED_LINEAR_CONVOLUTION.outputChannels"},

        {"stride 0", {{"Strides", {1, 0}}}, "QUANTIZED_LINEAR_CONVOLUTION.strideAndDilation"},
        {"dilation 0", {{"Dilations", {0, 1}}}, "QUANTIZED_LINEAR_CONVOLUTION.strideAndDilation"},

        // {N,C,W} = {2,4,9}. With padding 1 and 0 and a stride of 2 the size formula would hold: (1 + 1 - 1) / 2 + 1
        // = 1.
        {"3-D with padded height",
         {{"InputTensor", tensor(DataType::uint8, {2, 4, 9})},
          {"FilterTensor", tensor(DataType::int8, {6, 2, 3})},
          {"OutputTensor", tensor(DataType::uint8, {2, 6, 4})},
          {"Strides", {2, 2}},
          {"EndPadding", {0, 0}}},
         "QUANTIZED_LINEAR_CONVOLUTION.heightPadding"},
        {"3-D",
         {{"InputTensor", tensor(DataType::uint8, {2, 4, 9})},
          {"FilterTensor", tensor(DataType::int8, {6, 2, 3})},
          {"OutputTensor", tensor(DataType::uint8, {2, 6, 4})},
          {"StartPadding", {0, 0}},
          {"EndPadding", {0, 0}}},
         ""},

        // 7 padded rows; a filter of 3 reaches over 2 * dilation + 1.
        {"the filter just fits", {{"Dilations", {3, 1}}, {"OutputTensor", tensor(DataType::uint8, {2, 6, 1, 4})}}, ""},
        {"the filter is too large",
         {{"Dilations", {4, 1}}, {"OutputTensor", tensor(DataType::uint8, {2, 6, 1, 4})}},
         "QUANTIZED_LINEAR_CONVOLUTION.filterFits"},
        {"the filter is too large by one",
         {{"Dilations", {4, 1}}, {"EndPadding", {2, 0}}, {"OutputTensor", tensor(DataType::uint8, {2, 6, 1, 4})}},
         "QUANTIZED_LINEAR_CONVOLUTION.filterFits"},
        {"2 * dilation + 1 wraps to 7 in 32 bits",
         {{"Dilations", {0x80000003, 1}}, {"OutputTensor", tensor(DataType::uint8, {2, 6, 1, 4})}},
         "QUANTIZED_LINEAR_CONVOLUTION.filterFits"},
        {"the padded size wraps to 1 in 32 bits",
         {{"StartPadding", {0xfffffffc, 0}}, {"EndPadding", {0, 0}}},
         "QUANTIZED_LINEAR_CONVOLUTION.outputSize"},
        {"output too high", one("OutputTensor", DataType::uint8, {2, 6, 4, 4}),
         "QUANTIZED_LINEAR_CONVOLUTION.outputSize"},
        {"output too low", one("OutputTensor", DataType::uint8, {2, 6, 2, 4}),
         "QUANTIZED_LINEAR_CONVOLUTION.outputSize"},
        {"output too narrow", one("OutputTensor", DataType::uint8, {2, 6, 3, 3}),
         "QUANTIZED_LINEAR_CONVOLUTION.outputSize"},
        {"(9 + 1 - 3) / 2 + 1 is rounded down to 4", {{"EndPadding", {1, 1}}}, ""},
        {"(9 + 2 - 3) / 2 + 1 = 5", {{"EndPadding", {1, 2}}}, "QUANTIZED_LINEAR_CONVOLUTION.outputSize"},
        {"paddings and stride of 2^32 - 1: (5 + 2 * (2^32 - 1) - 5) / (2^32 - 1) + 1 = 3",
         {{"StartPadding", {most, 0}}, {"EndPadding", {most, 0}}, {"Strides", {most, 2}}},
         ""},
    };

    const RuleCase parameters[] = {
        {"a scale for each output channel", one("FilterScaleTensor", DataType::float32, {1, 6, 1, 1}), ""},
        {"a zero point for each output channel", one("FilterZeroPointTensor", DataType::int8, {1, 6, 1, 1}), ""},
        {"one zero point", one("FilterZeroPointTensor", DataType::int8, {1, 1, 1, 1}), ""},
        {"one, in fewer dimensions", one("FilterScaleTensor", DataType::float32, {1}), ""},
        {"for each channel, in fewer dimensions", one("FilterScaleTensor", DataType::float32, {1, 6}), ""},
        {"along the wrong dimension", one("FilterScaleTensor", DataType::float32, {6, 1, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.parameterSizes"},
        {"one-dimensional", one("FilterScaleTensor", DataType::float32, {6}),
         "QUANTIZED_LINEAR_CONVOLUTION.parameterSizes"},
        {"for each input channel", one("FilterZeroPointTensor", DataType::int8, {1, 4, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.parameterSizes"},
        {"input scale for each channel", one("InputScaleTensor", DataType::float32, {1, 4, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.parameterSizes"},
        {"input zero point for each channel", one("InputZeroPointTensor", DataType::uint8, {1, 4, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.parameterSizes"},
        {"output scale for each channel", one("OutputScaleTensor", DataType::float32, {1, 6, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.parameterSizes"},
        {"output zero point for each channel", one("OutputZeroPointTensor", DataType::uint8, {1, 6, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.parameterSizes"},
        {"bias", one("BiasTensor", DataType::int32, {1, 6, 1, 1}), ""},
        {"one bias for all", one("BiasTensor", DataType::int32, {1, 1, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.biasSizes"},
        {"bias for each input channel", one("BiasTensor", DataType::int32, {1, 4, 1, 1}),
         "QUANTIZED_LINEAR_CONVOLUTION.biasSizes"},
        {"bias in fewer dimensions", one("BiasTensor", DataType::int32, {1, 6, 1}), "tensor.sameDimensionCount"},
        {"bias of another type", one("BiasTensor", DataType::int8, {1, 6, 1, 1}), "tensor.dataType"},
        {"zero point not of its tensor's type", one("InputZeroPointTensor", DataType::int8, {1, 1, 1, 1}),
         "tensor.sameDataType"},
        {"filter's zero point not of its type", one("FilterZeroPointTensor", DataType::uint8, {1, 1, 1, 1}),
         "tensor.sameDataType"},
        {"output's zero point not of its type", one("OutputZeroPointTensor", DataType::int8, {1, 1, 1, 1}),
         "tensor.sameDataType"},
        {"output of another type than the input", one("OutputTensor", DataType::int8, {2, 6, 3, 4}), ""},
        {"scale in FLOAT16", one("OutputScaleTensor", DataType::float16, {1, 1, 1, 1}), "tensor.dataType"},
        {"scale absent", {{"OutputScaleTensor", nullptr}}, "field.required"},
    };
    expect_verdicts(base(), shapes);
    expect_verdicts(base(), parameters);
    expect_every_rule("QUANTIZED_LINEAR_CONVOLUTION", {shapes, parameters});
}

TEST(QuantizedLinearConvolution, ThreeDimensionsAndLevels) {
    const auto one_scale = tensor(DataType::float32, {1, 1, 1});
    const auto flat = with(base(), {{"InputTensor", tensor(DataType::uint8, {2, 4, 9})},
                                    {"FilterTensor", tensor(DataType::int8, {6, 2, 3})},
                                    {"OutputTensor", tensor(DataType::uint8, {2, 6, 4})},
                                    {"InputScaleTensor", one_scale},
                                    {"FilterScaleTensor", one_scale},
                                    {"OutputScaleTensor", one_scale},
                                    {"BiasTensor", tensor(DataType::int32, {1, 6, 1})},
                                    {"Dilations", {1, 1}},
                                    {"StartPadding", {0, 0}},
                                    {"EndPadding", {0, 0}}});
    const RuleCase cases[] = {
        {"from 4.0 on", {}, "", {4, 0}},
        {"too early", {}, "tensor.dimensionCount", {3, 1}, FeatureLevel{4, 0}},
        {"one-dimensional input scale", one("InputScaleTensor", DataType::float32, {1}), "", {4, 0}},
        {"one-dimensional filter scale", one("FilterScaleTensor", DataType::float32, {1}), "", {5, 2}},
        {"one-dimensional filter scale, too early",
         one("FilterScaleTensor", DataType::float32, {1}),
         "tensor.dimensionCount",
         {5, 1},
         FeatureLevel{5, 2}},
        {"padding above and below would add rows",
         {{"StartPadding", {1, 0}}, {"EndPadding", {1, 0}}},
         "QUANTIZED_LINEAR_CONVOLUTION.heightPadding"},
    };
    expect_verdicts(flat, cases);

    // {N,C,W} is {N,C,1,W}.
    const operators::QuantizedLinearConvolution op(flat);
    EXPECT_EQ(op.spatial[0].input, 1u);
    EXPECT_EQ(op.spatial[0].filter, 1u);
    EXPECT_EQ(op.spatial[0].output, 1u);
    EXPECT_EQ(op.spatial[1].input, 9u);
    EXPECT_EQ(op.spatial[1].filter, 3u);
    EXPECT_EQ(op.spatial[1].output, 4u);
    EXPECT_EQ(op.spatial[1].stride, 2u);
}

TEST(QuantizedLinearConvolution, Fields) {
    const auto descriptor = with(base(), {{"FilterScaleTensor", tensor(DataType::float32, {1, 6, 1, 1})}});
    const operators::QuantizedLinearConvolution op(descriptor);
    EXPECT_EQ(op.batch, 2u);
    EXPECT_EQ(op.input_channels, 4u);
    EXPECT_EQ(op.output_channels, 6u);
    EXPECT_EQ(op.group_channels, 2u);
    EXPECT_EQ(op.groups, 2u);
    EXPECT_TRUE(op.per_channel_scale);
    EXPECT_FALSE(op.per_channel_zero_point);
    EXPECT_EQ(op.spatial[0].input, 5u);
    EXPECT_EQ(op.spatial[0].dilation, 2u);
    EXPECT_EQ(op.spatial[0].start_padding, 1u);
    EXPECT_EQ(op.spatial[0].end_padding, 1u);
    EXPECT_EQ(op.spatial[1].input, 9u);
    EXPECT_EQ(op.spatial[1].stride, 2u);
    EXPECT_EQ(op.spatial[1].output, 4u);
}

/// The integers that a result accepts.
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
    constexpr double ulp = 0x1p-24;  // one FP32 rounding, relative; four are allowed
    const Row rows[] = {
        // Plain.
        {0, 1, 0, 0, {0}},
        {5, 1, 0, 5, {5}},
        {3, 0.4, 0, 1, {1}},
        {-3, 0.4, 0, -1, {-1}},
        {7, 0.1, 10, 11, {11}},
        // Ties go to even before the zero point is added, and their other neighbour is accepted.
        {1, 0.5, 0, 0, {0, 1}},
        {3, 0.5, 0, 2, {1, 2}},
        {5, 0.5, 0, 2, {2, 3}},
        {-1, 0.5, 0, 0, {-1, 0}},
        {-3, 0.5, 0, -2, {-2, -1}},
        {1, 0.5, 1, 1, {1, 2}},
        {3, 0.5, 1, 3, {2, 3}},
        {-5, 0.5, -3, -5, {-6, -5}},
        // Near a tie: 100.5, from both sides, within four roundings and beyond them.
        {1, 100.5 * (1 + 3.9 * ulp), 0, 101, {100, 101}},
        {1, 100.5 * (1 + 4.1 * ulp), 0, 101, {101}},
        {1, 100.5 * (1 - 3.9 * ulp), 0, 100, {100, 101}},
        {1, 100.5 * (1 - 4.1 * ulp), 0, 100, {100}},
        {-1, 100.5 * (1 + 3.9 * ulp), 0, -101, {-101, -100}},
        {-1, 100.5 * (1 + 4.1 * ulp), 0, -101, {-101}},
        {-1, 100.5 * (1 - 3.9 * ulp), 0, -100, {-101, -100}},
        {-1, 100.5 * (1 - 4.1 * ulp), 0, -100, {-100}},
        // The zero point moves the result, not the roundings.
        {1, 100.5 * (1 + 4.1 * ulp), -100, 1, {1}},
        {1, 0.5 * (1 + 4.1 * ulp), 100, 101, {101}},
        // Saturation, at INT8's ends: beyond them there is no neighbour.
        {1000, 1, 0, 127, {127}},
        {-1000, 1, 0, -128, {-128}},
        {200, 1, -100, 100, {100}},
        {-200, 1, 100, -100, {-100}},
        {255, 0.5, 0, 127, {127}},           // 127.5: 128 does not exist
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
    // Half of the accumulators land as close to a tie as an integer can.
    const double target = quotient(generator) + std::uniform_int_distribution<int>(0, 1)(generator) * 0.5;
    scales.accumulator = static_cast<std::int32_t>(std::nearbyint(target / scales.multiplier()));
    return scales;
}

std::int32_t clamped(float value) {
    return static_cast<std::int32_t>(std::clamp(value, 0.0f, 255.0f));
}

/// What Microsoft's DirectML computes, bit for bit (semantics.md), and other orders of the same operations in FP32.
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

/// One value is accepted, or two beside a tie that FP32 cannot tell the sides of. The condition is restated in the
/// distance to the tie, where the implementation shifts the value.
TEST(Requantise, AcceptsNothingElse) {
    std::mt19937 generator(12);
    std::uniform_real_distribution<double> offset(-12, 12);
    for (int i = 0; i < 200'000; ++i) {
        const double tie = std::uniform_int_distribution<int>(-130, 130)(generator) + 0.5;
        const double value = tie * (1 + offset(generator) * 0x1p-24);
        const double allowed = 4 * 0x1p-24 * std::fabs(value);
        // Doubles decide the two comparisons to about 2^-52: leave out what lies that close.
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

}  // namespace
}  // namespace dmlconform::tests

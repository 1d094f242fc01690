// Tests of engine/operators/rules/quantized_linear_convolution: each rule at its boundary.
#include <gtest/gtest.h>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::quantized_linear_convolution_test {
namespace {

using core::DataType;
using core::FeatureLevel;

/// From 4 channels in 2 groups to 6 channels. The output has (5 + 1 + 1 - (2 * 2 + 1)) / 1 + 1 = 3 rows and (9 - 3) / 2
/// + 1 = 4 columns.
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

        // {N,C,W} = {2,4,9}. With a height padding of 1 and 0 and a stride of 2, the size formula would still hold: (1
        // + 1 - 1) / 2 + 1 = 1.
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

        // There are 7 rows with padding; a filter of 3 spans 2 * dilation + 1 rows.
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
}

}  // namespace
}  // namespace dmlconform::tests::quantized_linear_convolution_test

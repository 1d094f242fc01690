// Tests of engine/operators/rules/mean_variance_normalization1: each rule at its boundary.
#include <gtest/gtest.h>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::mean_variance_normalization1_test {
namespace {

using core::DataType;
using core::FeatureLevel;

operators::Descriptor base() {
    return describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", tensor(DataType::float32, {2, 3, 4, 5})},
                                                     {"ScaleTensor", tensor(DataType::float32, {1, 3, 1, 1})},
                                                     {"BiasTensor", tensor(DataType::float32, {1, 3, 1, 1})},
                                                     {"OutputTensor", tensor(DataType::float32, {2, 3, 4, 5})},
                                                     {"Axes", {2, 3}},
                                                     {"NormalizeVariance", 1},
                                                     {"Epsilon", 1e-5}});
}

std::vector<Setting> parameters(const core::Dimensions& scale, const core::Dimensions& bias) {
    return {{"ScaleTensor", tensor(DataType::float32, scale)}, {"BiasTensor", tensor(DataType::float32, bias)}};
}

TEST(MeanVarianceNormalization1, Rules) {
    const core::Dimensions channels{1, 3, 1, 1};
    const RuleCase cases[] = {
        {"all axes", {{"Axes", {0, 1, 2, 3}}}, ""},
        {"one axis", {{"Axes", {0}}}, ""},
        // Measured on DirectML 1.15.4: it accepts repeated axes in any order.
        {"repeated, in disorder", {{"Axes", {3, 1, 3, 3, 1}}}, ""},
        {"one beyond", {{"Axes", {1, 4}}}, "MEAN_VARIANCE_NORMALIZATION1.axes"},
        {"far beyond", {{"Axes", {0xffffffff}}}, "MEAN_VARIANCE_NORMALIZATION1.axes"},

        {"neither scale nor bias at 2.1", {{"ScaleTensor", nullptr}, {"BiasTensor", nullptr}}, "", {2, 1}},
        {"no bias at 5.1",
         {{"BiasTensor", nullptr}},
         "MEAN_VARIANCE_NORMALIZATION1.scaleAndBias",
         {5, 1},
         FeatureLevel{5, 2}},
        {"no scale at 5.1",
         {{"ScaleTensor", nullptr}},
         "MEAN_VARIANCE_NORMALIZATION1.scaleAndBias",
         {5, 1},
         FeatureLevel{5, 2}},
        {"no bias at 5.2", {{"BiasTensor", nullptr}}, "", {5, 2}},
        {"no scale at 5.2", {{"ScaleTensor", nullptr}}, "", {5, 2}},

        {"for each channel at 2.1", {}, "", {2, 1}},
        {"for each element at 2.1", parameters({2, 3, 4, 5}, {2, 3, 4, 5}), "", {2, 1}},
        {"different ones", parameters({2, 3, 1, 5}, {1, 3, 4, 1}), "", {2, 1}},
        {"one for all at 3.1",
         parameters({1, 1, 1, 1}, channels),
         "MEAN_VARIANCE_NORMALIZATION1.channelSize",
         {3, 1},
         FeatureLevel{4, 0}},
        {"one bias for all at 3.1",
         parameters(channels, {1, 1, 1, 1}),
         "MEAN_VARIANCE_NORMALIZATION1.channelSize",
         {3, 1},
         FeatureLevel{4, 0}},
        {"one for all at 4.0", parameters({1, 1, 1, 1}, {1, 1, 1, 1}), "", {4, 0}},
        {"neither 1 nor the input's size", parameters({1, 3, 2, 1}, channels),
         "MEAN_VARIANCE_NORMALIZATION1.parameterSizes"},
        {"neither, for the bias, at 2.1",
         parameters(channels, {1, 3, 2, 1}),
         "MEAN_VARIANCE_NORMALIZATION1.parameterSizes",
         {2, 1}},
        {"another number of channels", parameters({1, 2, 1, 1}, channels),
         "MEAN_VARIANCE_NORMALIZATION1.parameterSizes"},
        {"another number of channels at 2.1",
         parameters({1, 2, 1, 1}, channels),
         "MEAN_VARIANCE_NORMALIZATION1.channelSize",
         {2, 1}},
        {"scale of another type", {{"ScaleTensor", tensor(DataType::float16, channels)}}, "tensor.sameDataType"},
        {"scale of another rank", {{"ScaleTensor", tensor(DataType::float32, {3})}}, "tensor.sameDimensionCount"},
        {"output of other sizes", {{"OutputTensor", tensor(DataType::float32, {2, 3, 5, 4})}}, "tensor.sameSizes"},
        {"integers", {{"InputTensor", tensor(DataType::int32, {2, 3, 4, 5})}}, "tensor.dataType"},
        {"five dimensions at 3.0",
         {{"InputTensor", tensor(DataType::float16, {1, 2, 3, 4, 5})},
          {"OutputTensor", tensor(DataType::float16, {1, 2, 3, 4, 5})},
          {"ScaleTensor", nullptr},
          {"BiasTensor", nullptr}},
         "tensor.dimensionCount",
         {3, 0},
         FeatureLevel{3, 1}},
        {"one dimension, which is no channel, at 3.1",
         {{"InputTensor", tensor(DataType::float16, {5})},
          {"OutputTensor", tensor(DataType::float16, {5})},
          {"ScaleTensor", tensor(DataType::float16, {1})},
          {"BiasTensor", tensor(DataType::float16, {5})},
          {"Axes", {0}}},
         "",
         {3, 1}},
    };
    expect_verdicts(base(), cases);
    expect_every_rule("MEAN_VARIANCE_NORMALIZATION1", {cases});
}

}  // namespace
}  // namespace dmlconform::tests::mean_variance_normalization1_test

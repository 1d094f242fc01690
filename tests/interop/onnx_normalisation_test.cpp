// Tests which DirectML operator and axes ONNX's normalisations, softmaxes and hardmaxes become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interop/onnx_node_tests.h"

namespace dmlconform::tests::onnx_normalisation_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Row {
    NodeTest test;
    std::string directml;
    std::vector<std::string> lines{};
};

NodeTest at_opset(NodeTest test, std::int64_t opset) {
    test.opset = opset;
    return test;
}

const onnx::TensorProto x = floats({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
const onnx::TensorProto four = floats({4}, {1, 2, 3, 4});
const onnx::TensorProto two = floats({2}, {1, 2});

TEST(OnnxNormalisation, BecomesCases) {
    const Row rows[] = {
        {{"Softmax", {x}, {x}}, "ACTIVATION_SOFTMAX1", {"Axes: [3]"}},
        {{"Softmax", {x}, {x}, {integer("axis", 0)}}, "ACTIVATION_SOFTMAX1", {"Axes: [0]"}},
        {{"LogSoftmax", {x}, {x}, {integer("axis", -2)}}, "ACTIVATION_LOG_SOFTMAX1", {"Axes: [2]"}},
        {{"Hardmax", {x}, {x}}, "ACTIVATION_HARDMAX1", {"Axes: [3]"}},
        // The input is treated as a matrix whose second dimension contains all dimensions from the axis on.
        {at_opset({"Softmax", {x}, {x}}, 12), "ACTIVATION_SOFTMAX1", {"Axes: [1,2,3]"}},
        {at_opset({"LogSoftmax", {x}, {x}, {integer("axis", 2)}}, 11), "ACTIVATION_LOG_SOFTMAX1", {"Axes: [2,3]"}},
        {at_opset({"Hardmax", {x}, {x}, {integer("axis", -1)}}, 11), "ACTIVATION_HARDMAX1", {"Axes: [3]"}},
        {at_opset({"Hardmax", {x}, {x}, {integer("axis", 4)}}, 11), "ACTIVATION_HARDMAX1", {"Axes: []"}},
        {{"BatchNormalization", {x, four, four, four, four}, {x}, {number("epsilon", 0.5F)}},
         "BATCH_NORMALIZATION",
         {"MeanTensor: FLOAT32 [1,4,1,1]", "Epsilon: 0.5"}},
        {{"BatchNormalization", {two, floats({1}, {1}), floats({1}, {1}), floats({1}, {1}), floats({1}, {1})}, {two}},
         "BATCH_NORMALIZATION",
         {"InputTensor: FLOAT32 [2]", "VarianceTensor: FLOAT32 [1]", "Epsilon: 1e-05"}},
        {{"MeanVarianceNormalization", {x}, {x}}, "MEAN_VARIANCE_NORMALIZATION1", {"Axes: [0,2,3]"}},
        {{"LayerNormalization", {x, two}, {x}},
         "MEAN_VARIANCE_NORMALIZATION1",
         {"Axes: [3]", "ScaleTensor: FLOAT32 [1,1,1,2]", "BiasTensor: null"}},
        {{"InstanceNormalization", {x, four, four}, {x}},
         "MEAN_VARIANCE_NORMALIZATION1",
         {"Axes: [2,3]", "BiasTensor: FLOAT32 [1,4,1,1]"}},
        {{"RMSNormalization", {x, floats({1, 2}, {1, 2})}, {x}, {integer("axis", 2)}},
         "MEAN_VARIANCE_NORMALIZATION2",
         {"Axes: [2,3]", "UseMean: FALSE", "UseVariance: TRUE", "ScaleTensor: FLOAT32 [1,1,1,2]"}},
        {{"GroupNormalization", {x, four, four}, {x}, {integer("num_groups", 2)}},
         "MEAN_VARIANCE_NORMALIZATION1",
         {"InputTensor: FLOAT32 [1,2,2,1,2]", "Axes: [2,3,4]", "ScaleTensor: FLOAT32 [1,2,2,1,1]"}},
        {{"GroupNormalization", {x, two, two}, {x}, {integer("num_groups", 2)}},
         "MEAN_VARIANCE_NORMALIZATION1",
         {"OutputTensor: FLOAT32 [1,2,2,1,2]", "BiasTensor: FLOAT32 [1,2,1,1,1]"}},
    };
    for (const Row& row : rows) {
        const auto subject = imported(row.test);
        EXPECT_EQ(subject.descriptor->schema->short_name(), row.directml) << row.test.type;
        for (const std::string& line : row.lines) {
            EXPECT_THAT(to_lines(*subject.descriptor), Contains(line)) << row.test.type;
        }
    }
}

TEST(OnnxNormalisation, ParametersKeepTheirOrder) {
    const auto subject = imported(
        {"BatchNormalization", {two, floats({1}, {1}), floats({1}, {2}), floats({1}, {3}), floats({1}, {4})}, {two}});
    // The order is scale, bias, mean, variance in ONNX, and mean, variance, scale, bias in DirectML.
    const std::vector<std::pair<std::string_view, float>> expected{
        {"MeanTensor", 3}, {"VarianceTensor", 4}, {"ScaleTensor", 1}, {"BiasTensor", 2}};
    const auto slots = subject.descriptor->inputs();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(slots[i + 1].name, expected[i].first);
        core::Tensor tensor(*slots[i + 1].desc);
        ASSERT_TRUE(subject.inputs[i + 1]->fill(tensor));
        EXPECT_EQ(tensor.as<float>()[0], expected[i].second) << expected[i].first;
    }
}

TEST(OnnxNormalisation, WhatHasNoCounterpartIsNamed) {
    const std::vector<std::pair<NodeTest, std::string>> rows{
        {at_opset({"BatchNormalization", {x, four, four, four, four}, {x, four, four}}, 9),
         "updates its mean and variance"},
        {at_opset({"BatchNormalization", {x, four, four, four, four}, {x}, {integer("spatial", 0)}}, 8), "spatial = 0"},
        {{"BatchNormalization", {x, four, four, four}, {x}}, "a parameter of BatchNormalization is absent"},
        {{"Softmax", {x}, {x}, {integer("axis", 4)}}, "there is no such axis"},
        {at_opset({"Softmax", {x}, {x}, {integer("axis", 5)}}, 12), "there is no such axis"},
        {{"LayerNormalization", {x, two}, {x}, {integer("axis", 4)}}, "there is no such axis"},
        {{"LayerNormalization", {x, floats({1, 2}, {1, 2})}, {x}}, "too many dimensions"},
        {{"RMSNormalization", {x, two}, {x}, {integer("axis", -5)}}, "there is no such axis"},
        {{"GroupNormalization", {x, four, four}, {x}, {integer("num_groups", 3)}}, "does not divide the channels"},
        {{"GroupNormalization", {x, four, four}, {x}}, "does not divide the channels"},
        {{"GroupNormalization", {x, floats({3}, {1, 2, 3}), four}, {x}, {integer("num_groups", 2)}},
         "neither for each channel nor for each group"},
        {{"GroupNormalization", {x, four}, {x}, {integer("num_groups", 2)}}, "scale or bias is absent"},
    };
    for (const auto& [test, why] : rows) {
        EXPECT_THAT(reason(test), HasSubstr(why)) << test.type;
    }
}

}  // namespace
}  // namespace dmlconform::tests::onnx_normalisation_test

// Tests which DirectML operator, attributes and strides ONNX's element-wise nodes become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/cpu/reference.h"
#include "tests/interop/onnx_passing.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::onnx_element_wise_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

onnx::TensorProto bytes(std::vector<std::int64_t> dims, const std::vector<std::uint8_t>& values) {
    return tensor<std::uint8_t>(2, std::move(dims), values);
}

onnx::TensorProto small(std::vector<std::int64_t> dims, const std::vector<std::int8_t>& values) {
    return tensor<std::int8_t>(3, std::move(dims), values);
}

onnx::TensorProto booleans(std::vector<std::int64_t> dims, const std::vector<std::uint8_t>& values) {
    return tensor<std::uint8_t>(9, std::move(dims), values);
}

/// Lines of the descriptor, such as "InputTensor: FLOAT32 [1,3]".
struct Row {
    NodeTest test;
    std::string directml;
    std::vector<std::string> lines{};
};

void expect_case(const Row& row) {
    const auto subject = imported(row.test);
    EXPECT_EQ(subject.descriptor->schema->short_name(), row.directml) << row.test.type;
    for (const std::string& line : row.lines) {
        EXPECT_THAT(to_lines(*subject.descriptor), Contains(line)) << row.test.type;
    }
}

const onnx::TensorProto x = floats({2, 2}, {-1, 2, -3, 4});

TEST(OnnxElementWise, AttributesChooseTheOperator) {
    const Row rows[] = {
        {{"BitShift", {bytes({2}, {1, 2}), bytes({2}, {1, 1})}, {bytes({2}, {2, 4})}, {text("direction", "LEFT")}},
         "ELEMENT_WISE_BIT_SHIFT_LEFT"},
        {{"BitShift", {bytes({2}, {8, 2}), bytes({1}, {1})}, {bytes({2}, {4, 1})}, {text("direction", "RIGHT")}},
         "ELEMENT_WISE_BIT_SHIFT_RIGHT",
         {"BTensor: UINT8 [2] strides [0]"}},
        {{"Mod", {x, x}, {floats({2, 2}, {0, 0, 0, 0})}}, "ELEMENT_WISE_MODULUS_FLOOR"},
        {{"Mod", {x, x}, {floats({2, 2}, {0, 0, 0, 0})}, {integer("fmod", 1)}}, "ELEMENT_WISE_MODULUS_TRUNCATE"},
        {{"Round", {x}, {x}}, "ELEMENT_WISE_ROUND", {"RoundingMode: HALVES_TO_NEAREST_EVEN"}},
        {{"IsInf", {x}, {booleans({2, 2}, {0, 0, 0, 0})}}, "ELEMENT_WISE_IS_INFINITY", {"InfinityMode: EITHER"}},
        {{"IsInf", {x}, {booleans({2, 2}, {0, 0, 0, 0})}, {integer("detect_negative", 0)}},
         "ELEMENT_WISE_IS_INFINITY",
         {"InfinityMode: POSITIVE"}},
        {{"IsInf", {x}, {booleans({2, 2}, {0, 0, 0, 0})}, {integer("detect_positive", 0)}},
         "ELEMENT_WISE_IS_INFINITY",
         {"InfinityMode: NEGATIVE"}},
        {{"Celu", {x}, {x}, {number("alpha", 2)}}, "ACTIVATION_CELU", {"Alpha: 2"}},
        {{"HardSwish", {x}, {x}}, "ACTIVATION_HARD_SWISH", {"Alpha: 0.16666667", "Beta: 0.5"}},
        {{"Shrink", {x}, {x}, {number("lambd", 1.5F)}}, "ACTIVATION_SHRINK", {"Bias: 0", "Threshold: 1.5"}},
        {{"Gelu", {x}, {x}}, "ACTIVATION_GELU"},
        {{"Swish", {x}, {x}, {number("alpha", 0.5F)}}, "ACTIVATION_SWISH", {"SigmoidInputScale: 0.5"}},
        {{"Sum", {x}, {x}}, "ELEMENT_WISE_IDENTITY"},
        {{"Max", {x}, {x}}, "ELEMENT_WISE_IDENTITY"},
        {{"Sum", {x, x}, {x}}, "ELEMENT_WISE_ADD"},
        {{"Mean", {x, x}, {x}}, "ELEMENT_WISE_MEAN"},
        {{"Cast", {x}, {small({2, 2}, {-1, 2, -3, 4})}}, "CAST", {"OutputTensor: INT8 [2,2]"}},
        {{"CastLike", {x, small({1}, {0})}, {small({2, 2}, {-1, 2, -3, 4})}}, "CAST", {"OutputTensor: INT8 [2,2]"}},
        {{"Expand", {floats({2, 1}, {1, 2}), longs({2}, {2, 3})}, {floats({2, 3}, {1, 1, 1, 2, 2, 2})}},
         "ELEMENT_WISE_IDENTITY",
         {"InputTensor: FLOAT32 [2,3] strides [1,0]"}},
        {{"Unsqueeze", {x, longs({1}, {0})}, {floats({1, 2, 2}, {-1, 2, -3, 4})}},
         "ELEMENT_WISE_IDENTITY",
         {"InputTensor: FLOAT32 [1,2,2]"}},
    };
    for (const Row& row : rows) {
        expect_case(row);
    }
}

TEST(OnnxElementWise, ClipHasTheBoundsThatThereAre) {
    onnx::TensorProto none;
    NodeTest before_opset_11{"Clip", {x}, {x}, {number("min", -1), number("max", 2)}};
    const Row rows[] = {
        {{"Clip", {x, floats({}, {-1}), floats({}, {2})}, {x}}, "ELEMENT_WISE_CLIP", {"Min: -1", "Max: 2"}},
        {{"Clip", {x, floats({}, {-1})}, {x}}, "ELEMENT_WISE_CLIP", {"Min: -1", "Max: 3.4028235e+38"}},
        {{"Clip", {x, none, floats({}, {2})}, {x}}, "ELEMENT_WISE_CLIP", {"Min: -3.4028235e+38", "Max: 2"}},
        // If the minimum exceeds the maximum, the result is the maximum, as in ONNX.
        {{"Clip", {x, floats({}, {2}), floats({}, {1})}, {floats({2, 2}, {1, 1, 1, 1})}},
         "ELEMENT_WISE_CLIP",
         {"Min: 1", "Max: 1"}},
        {before_opset_11, "ELEMENT_WISE_CLIP", {"Min: -1", "Max: 2"}},
        {{"Clip", {small({2}, {1, 2}), small({}, {-100})}, {small({2}, {1, 2})}},
         "ELEMENT_WISE_CLIP1",
         {"MinMaxDataType: INT8", "Min: -100", "Max: 127"}},
        {{"Clip", {longs({1}, {1})}, {longs({1}, {1})}},
         "ELEMENT_WISE_CLIP1",
         {"Min: -9223372036854775808", "Max: 9223372036854775807"}},
        {{"Clip", {tensor<std::uint16_t>(10, {1}, {0x3c00})}, {tensor<std::uint16_t>(10, {1}, {0x3c00})}},
         "ELEMENT_WISE_CLIP",
         {"Min: -65504", "Max: 65504"}},
    };
    for (const Row& row : rows) {
        expect_case(row);
    }
    EXPECT_THAT(reason({"Clip", {x, floats({2}, {1, 2})}, {x}}), HasSubstr("\"min\" has 2 elements, not one"));
}

TEST(OnnxElementWise, ScalesLieAlongTheirAxis) {
    const auto image = floats({1, 3, 2}, {-162, 10, -100, 232, -20, -50});
    const auto codes = bytes({1, 3, 2}, {0, 1, 2, 3, 4, 5});
    const Row rows[] = {
        {{"QuantizeLinear", {image, floats({3}, {2, 4, 5}), bytes({3}, {84, 24, 196})}, {codes}},
         "ELEMENT_WISE_QUANTIZE_LINEAR",
         {"ScaleTensor: FLOAT32 [1,3,2] strides [0,1,0]", "ZeroPointTensor: UINT8 [1,3,2] strides [0,1,0]"}},
        {{"QuantizeLinear", {image, floats({}, {2})}, {codes}},
         "ELEMENT_WISE_QUANTIZE_LINEAR",
         {"ScaleTensor: FLOAT32 [1,3,2] strides [0,0,0]", "ZeroPointTensor: null"}},
        {{"DequantizeLinear", {codes, floats({2}, {2, 4}), bytes({2}, {84, 24})}, {image}, {integer("axis", -1)}},
         "ELEMENT_WISE_DEQUANTIZE_LINEAR",
         {"ScaleTensor: FLOAT32 [1,3,2] strides [0,0,1]"}},
    };
    for (const Row& row : rows) {
        expect_case(row);
    }
    EXPECT_THAT(reason({"QuantizeLinear", {image, floats({3}, {2, 4, 5})}, {codes}, {integer("axis", 7)}}),
                HasSubstr("not those of an axis"));
    EXPECT_THAT(reason({"QuantizeLinear", {image, floats({1, 3, 1}, {2, 4, 5})}, {codes}}),
                HasSubstr("not those of an axis"));
    EXPECT_THAT(reason({"QuantizeLinear", {image, floats({2}, {2, 4})}, {codes}}), HasSubstr("cannot be broadcast"));
}

TEST(OnnxElementWise, BlocksAndTypesOfFourBitsAreDequantised) {
    constexpr int uint4 = 21;
    constexpr int int4 = 22;
    const auto blocks = floats({2, 1}, {0.5F, 2});
    const auto of_two = integer("block_size", 2);
    const auto rows_of = integer("axis", 0);
    const std::vector<PassingRow> rows{
        {"DEQUANTIZE",
         {"DequantizeLinear",
          {tensor<std::uint8_t>(int4, {4, 1}, {0xf2, 0x84}), blocks, tensor<std::uint8_t>(int4, {2, 1}, {0xe1})},
          {floats({4, 1}, {0.5F, -1, 12, -12})},
          {rows_of, of_two}}},
        {"DEQUANTIZE",
         {"DequantizeLinear",
          {tensor<std::uint8_t>(uint4, {3}, {0xf2, 0x04}), floats({}, {2})},
          {floats({3}, {4, 30, 8})}}},
        {"DEQUANTIZE",
         {"DequantizeLinear",
          {tensor<std::int8_t>(3, {4, 1}, {2, -1, 4, -8}), blocks},
          {floats({4, 1}, {1, -0.5F, 8, -16})},
          {rows_of, of_two}}},
    };
    expect_rows_pass(rows);
    const auto codes = bytes({4, 1}, {1, 2, 3, 4});
    const auto image = floats({4, 1}, {1, 2, 3, 4});
    expect_rows_left_out(
        {{"there is not one scale for each 3 elements of axis 0",
          {"DequantizeLinear", {codes, blocks}, {image}, {rows_of, integer("block_size", 3)}}},
         {"there is not one scale for each -2 elements",
          {"DequantizeLinear", {codes, blocks}, {image}, {rows_of, integer("block_size", -2)}}},
         {"DirectML does not quantise blocks", {"QuantizeLinear", {image, blocks}, {codes}, {rows_of, of_two}}}});
}

NodeTest adam(std::int64_t step) {
    const double a = std::sqrt(1 - std::pow(0.1, step)) / (1 - std::pow(0.95, step));
    const double moved = 1 - 0.1 * a * 1.85 / (std::sqrt(0.95) + 0.01);
    return {"Adam",
            {floats({}, {0.1F}), longs({}, {step}), floats({1}, {1}), floats({1}, {-1}), floats({1}, {2}),
             floats({1}, {0.5F})},
            {floats({1}, {static_cast<float>(moved)}), floats({1}, {1.85F}), floats({1}, {0.95F})},
            {number("alpha", 0.95F), number("beta", 0.1F), number("epsilon", 0.01F)},
            0,
            "ai.onnx.preview.training"};
}

TEST(OnnxElementWise, AdamWhereItIsTheSame) {
    for (const std::int64_t step : {1, 3}) {
        const auto subject = imported(adam(step));
        for (const char* line : {"InputParametersTensor: FLOAT32 [1,1,1,1]", "TrainingStepTensor: UINT32 [1,1,1,1]",
                                 "LearningRate: 0.1", "Beta1: 0.95", "Beta2: 0.1", "Epsilon: 0.01"}) {
            EXPECT_THAT(to_lines(*subject.descriptor), Contains(line));
        }
        std::vector<core::Tensor> inputs;
        std::vector<const core::Tensor*> pointers;
        for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
            ASSERT_TRUE(subject.inputs[i]->fill(inputs.emplace_back(*subject.descriptor->inputs()[i].desc)));
        }
        for (const core::Tensor& input : inputs) {
            pointers.push_back(&input);
        }
        const auto reference = cpu::compute_reference(*subject.descriptor, pointers);
        for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
            core::Tensor expected(reference.outputs[i].desc);
            ASSERT_TRUE(subject.expected[i]->fill(expected));
            EXPECT_NEAR(values_of<float>(reference.outputs[i])[0], values_of<float>(expected)[0], 1e-6) << i;
        }
    }
    NodeTest twice = adam(1);
    twice.inputs.push_back(twice.inputs.back());
    EXPECT_THAT(reason(twice), HasSubstr("one tensor has six inputs and three outputs"));
    NodeTest own = adam(1);
    own.domain = "";
    EXPECT_THAT(reason(own), HasSubstr("Adam has no mapping"));
}

TEST(OnnxElementWise, WhatIsExactStatesNoTolerance) {
    EXPECT_FALSE(imported({"Neg", {x}, {x}}).tolerances[0].has_value());
    EXPECT_FALSE(imported({"Clip", {x}, {x}}).tolerances[0].has_value());
    EXPECT_TRUE(imported({"Exp", {x}, {x}}).tolerances[0].has_value());
    EXPECT_TRUE(imported({"Add", {x, x}, {x}}).tolerances[0].has_value());
}

TEST(OnnxElementWise, WhatIsNotTheSameIsLeftOut) {
    const auto truths = booleans({2, 2}, {1, 1, 1, 1});
    struct {
        NodeTest test;
        std::string reason;
    } const rows[] = {
        {{"BitShift", {bytes({1}, {1}), bytes({1}, {1})}, {bytes({1}, {2})}}, "BitShift has no direction"},
        {{"IsInf", {x}, {truths}, {integer("detect_positive", 0), integer("detect_negative", 0)}}, "finds no infinity"},
        {{"Sub", {x, x, x}, {x}}, "Sub has 3 inputs; ELEMENT_WISE_SUBTRACT takes 2"},
        {{"Identity", {x}, {x}, {}, 0, "", true}, "\"in0\" is a sequence, a map or an optional value"},
        {{"Add", {x, x}, {x}, {}, 0, "com.example"}, "com.example.Add has no mapping"},
    };
    for (const auto& row : rows) {
        EXPECT_THAT(reason(row.test), HasSubstr(row.reason)) << row.test.type;
    }
    // Casting BOOL to BOOL changes nothing.
    EXPECT_EQ(imported({"Cast", {truths}, {truths}}).descriptor->schema->short_name(), "CAST");
}

}  // namespace
}  // namespace dmlconform::tests::onnx_element_wise_test

// Tests of engine/interop/onnx_recurrent: the conversion of RNN, LSTM and GRU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/interop/onnx_node_tests.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::onnx_recurrent_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 0, 1, 2, …
onnx::TensorProto counted(std::vector<std::int64_t> dims) {
    std::size_t count = 1;
    for (const std::int64_t size : dims) {
        count *= static_cast<std::size_t>(size);
    }
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0F);
    return floats(std::move(dims), values);
}

onnx::AttributeProto strings(const std::string& name, const std::vector<std::string>& values) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    for (const std::string& value : values) {
        attribute.strings.add(value);
    }
    return attribute;
}

onnx::AttributeProto numbers(const std::string& name, const std::vector<float>& values) {
    onnx::AttributeProto attribute;
    attribute.name.set(name);
    attribute.floats.append(values.begin(), values.end());
    return attribute;
}

onnx::TensorProto lengths(const std::vector<std::int32_t>& values) {
    return tensor<std::int32_t>(6, {static_cast<std::int64_t>(values.size())}, values);
}

/// Three steps, two batches, four inputs, five units; all optional inputs of LSTM are present.
NodeTest lstm(std::vector<onnx::AttributeProto> attributes) {
    return {"LSTM",
            {counted({3, 2, 4}), counted({1, 20, 4}), counted({1, 20, 5}), counted({1, 40}), lengths({3, 1}),
             counted({1, 2, 5}), counted({1, 2, 5}), counted({1, 15})},
            {counted({3, 1, 2, 5}), counted({1, 2, 5}), counted({1, 2, 5})},
            std::move(attributes)};
}

std::vector<std::string> activations_of(const cases::Case& imported) {
    std::vector<std::string> texts;
    for (const auto& activation : imported.descriptor->get<operators::OperatorDescArray>("ActivationDescs").items) {
        std::string text(activation->schema->short_name().substr(std::string_view("ACTIVATION_").size()));
        for (const operators::FieldValue& value : activation->values) {
            if (const auto* number = std::get_if<float>(&value)) {
                text += fmt::format(" {}", *number);
            }
        }
        texts.push_back(text);
    }
    return texts;
}

TEST(OnnxRecurrent, LstmHasAllTensors) {
    const auto made = imported(lstm({number("clip", 0.5F), integer("input_forget", 1)}));
    const operators::Descriptor& descriptor = *made.descriptor;
    EXPECT_EQ(descriptor.schema->short_name(), "LSTM");
    EXPECT_THAT(descriptor.sizes("InputTensor"), ElementsAre(1, 3, 2, 4));
    EXPECT_THAT(descriptor.sizes("WeightTensor"), ElementsAre(1, 1, 20, 4));
    EXPECT_THAT(descriptor.sizes("RecurrenceTensor"), ElementsAre(1, 1, 20, 5));
    EXPECT_THAT(descriptor.sizes("BiasTensor"), ElementsAre(1, 1, 1, 40));
    EXPECT_THAT(descriptor.sizes("HiddenInitTensor"), ElementsAre(1, 1, 2, 5));
    EXPECT_THAT(descriptor.sizes("CellMemInitTensor"), ElementsAre(1, 1, 2, 5));
    EXPECT_THAT(descriptor.sizes("SequenceLengthsTensor"), ElementsAre(1, 1, 1, 2));
    EXPECT_EQ(descriptor.tensor("SequenceLengthsTensor")->data_type, core::DataType::uint32);
    EXPECT_THAT(descriptor.sizes("PeepholeTensor"), ElementsAre(1, 1, 1, 15));
    EXPECT_THAT(descriptor.sizes("OutputSequenceTensor"), ElementsAre(3, 1, 2, 5));
    EXPECT_THAT(descriptor.sizes("OutputCellSingleTensor"), ElementsAre(1, 1, 2, 5));
    EXPECT_EQ(descriptor.number("ClipThreshold"), 0.5F);
    EXPECT_EQ(descriptor.uint("UseClipThreshold"), 1U);
    EXPECT_EQ(descriptor.uint("CoupleInputForget"), 1U);
    EXPECT_EQ(descriptor.uint("Direction"), 0U);
    EXPECT_THAT(activations_of(made), ElementsAre("SIGMOID", "TANH", "TANH"));
}

TEST(OnnxRecurrent, WithoutClipNothingIsClipped) {
    EXPECT_EQ(imported(lstm({})).descriptor->uint("UseClipThreshold"), 0U);
    EXPECT_EQ(imported(lstm({text("direction", "reverse")})).descriptor->uint("Direction"), 1U);
}

TEST(OnnxRecurrent, ActivationsTakeTheNumbersInTurn) {
    const auto made =
        imported(lstm({strings("activations", {"HardSigmoid", "relu", "ScaledTanh"}),
                       numbers("activation_alpha", {0.25F, 0.75F}), numbers("activation_beta", {0.125F})}));
    EXPECT_THAT(activations_of(made), ElementsAre("HARD_SIGMOID 0.25 0.125", "RELU", "SCALED_TANH 0.75 1"));
    const auto others = imported(lstm({strings("activations", {"Affine", "Elu", "Softplus"})}));
    EXPECT_THAT(activations_of(others), ElementsAre("LINEAR 1 0", "ELU 1", "SOFTPLUS 1"));
    EXPECT_THAT(reason(lstm({strings("activations", {"Sigmoid", "Mish", "Tanh"})})),
                HasSubstr("activation Mish has no counterpart"));
}

TEST(OnnxRecurrent, BatchesInFrontAreMovedBehindSteps) {
    const auto made =
        imported({"GRU",
                  {counted({2, 3, 1}), counted({1, 3, 1}), counted({1, 3, 1}), {}, {}, counted({2, 1, 1})},
                  {counted({2, 3, 1, 1}), counted({2, 1, 1})},
                  {integer("layout", 1), integer("linear_before_reset", 1)}});
    EXPECT_THAT(made.descriptor->sizes("InputTensor"), ElementsAre(1, 3, 2, 1));
    EXPECT_THAT(made.descriptor->sizes("HiddenInitTensor"), ElementsAre(1, 1, 2, 1));
    EXPECT_THAT(made.descriptor->sizes("OutputSequenceTensor"), ElementsAre(3, 1, 2, 1));
    EXPECT_THAT(made.descriptor->sizes("OutputSingleTensor"), ElementsAre(1, 1, 2, 1));
    EXPECT_EQ(made.descriptor->uint("LinearBeforeReset"), 1U);
    // The values of the first step are 0 and 3.
    core::Tensor sequence(*made.descriptor->tensor("OutputSequenceTensor"));
    ASSERT_TRUE(made.expected[0]->fill(sequence));
    EXPECT_THAT(values_of<float>(sequence), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(OnnxRecurrent, BothDirections) {
    const auto made = imported({"RNN",
                                {counted({1, 1, 1}), counted({2, 1, 1}), counted({2, 1, 1})},
                                {counted({1, 2, 1, 1})},
                                {text("direction", "bidirectional")}});
    EXPECT_EQ(made.descriptor->uint("Direction"), 2U);
    EXPECT_THAT(activations_of(made), ElementsAre("TANH", "TANH"));
    EXPECT_EQ(made.descriptor->tensor("OutputSingleTensor"), nullptr);
}

TEST(OnnxRecurrent, LeftOut) {
    const std::vector<onnx::TensorProto> inputs{counted({1, 1, 1}), counted({1, 1, 1}), counted({1, 1, 1})};
    const std::vector<onnx::TensorProto> outputs{counted({1, 1, 1, 1})};
    EXPECT_THAT(reason({"RNN", inputs, outputs, {number("clip", 1)}}), HasSubstr("RNN does not clip"));
    EXPECT_THAT(reason({"RNN", {counted({1, 1, 1}), counted({1, 1, 1})}, outputs}), HasSubstr("X, W or R is absent"));
    EXPECT_THAT(reason({"RNN", {inputs[0], inputs[1], inputs[2], {}, lengths({-1})}, outputs}),
                HasSubstr("sequence_lens must be INT32, and not negative"));
    EXPECT_THAT(reason({"GRU", inputs, outputs}), HasSubstr("WeightTensor"));
}

}  // namespace
}  // namespace dmlconform::tests::onnx_recurrent_test

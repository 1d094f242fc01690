// Tests of exported models: nodes and attributes at each opset, and inputs and outputs for strided tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/interop/export/onnx_export.h"
#include "engine/interop/onnx_messages.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests {
namespace onnx_export_nodes_test {
namespace {

using core::DataType;
using testing::ElementsAre;
using testing::HasSubstr;

onnx::ModelProto model_of(const operators::Descriptor& descriptor, std::int64_t opset = 17) {
    onnx::ModelProto model;
    const auto exported = interop::export_onnx(descriptor, opset);
    EXPECT_TRUE(exported) << (exported ? "" : exported.error().message);
    EXPECT_TRUE(!exported || onnx::read_message(exported->bytes, model));
    return model;
}

std::vector<std::string> types_of(const onnx::ModelProto& model) {
    std::vector<std::string> types;
    for (const onnx::NodeProto& node : model.graph().node()) {
        types.push_back(node.op_type());
    }
    return types;
}

/// A reduction of two rows by this function; 10 is the sum.
operators::Descriptor reduction(std::uint32_t function) {
    return describe("REDUCE", {{"Function", function},
                               {"InputTensor", tensor(DataType::float32, {2, 3})},
                               {"OutputTensor", tensor(DataType::float32, {2, 1})},
                               {"AxisCount", 1},
                               {"Axes", {1}}});
}

TEST(OnnxExportNodes, SumsHaveAxesAsAnInputAndOtherReductionsFromOpset18On) {
    constexpr std::uint32_t sum = 10;
    constexpr std::uint32_t maximum = 7;
    EXPECT_EQ(model_of(reduction(sum), 13).graph().node(0).input.size(), 2);
    EXPECT_EQ(model_of(reduction(maximum), 17).graph().node(0).input.size(), 1);
    EXPECT_EQ(model_of(reduction(maximum), 17).graph().node(0).attribute(0).name(), "axes");
    EXPECT_EQ(model_of(reduction(maximum), 18).graph().node(0).input.size(), 2);
    EXPECT_EQ(model_of(reduction(maximum), 18).graph().node(0).attribute.size(), 0);
}

TEST(OnnxExportNodes, SaysItsOpsetAndTheFormatOfThatTime) {
    for (const auto& [opset, format] : {std::pair{13, 7}, {15, 8}, {19, 9}, {21, 10}}) {
        const onnx::ModelProto model = model_of(reduction(10), opset);
        EXPECT_EQ(model.opset_import(0).version(), opset);
        EXPECT_EQ(model.ir_version(), format);
    }
}

TEST(OnnxExportNodes, RejectsOpsetsThatItDoesNotWrite) {
    for (const std::int64_t opset : {12, 22, 0, -1}) {
        const auto exported = interop::export_onnx(reduction(10), opset);
        ASSERT_FALSE(exported) << opset;
        EXPECT_THAT(exported.error().message, HasSubstr(std::to_string(opset)));
        EXPECT_EQ(exported.error().hint, "from 13 to 21");
    }
}

operators::Descriptor sum_of(core::TensorDesc a, core::TensorDesc b, core::TensorDesc output) {
    return describe("ELEMENT_WISE_ADD",
                    {{"ATensor", std::move(a)}, {"BTensor", std::move(b)}, {"OutputTensor", std::move(output)}});
}

TEST(OnnxExportNodes, PlainTensorsNeedOneNode) {
    const core::TensorDesc plain = tensor(DataType::float32, {2, 3});
    EXPECT_THAT(types_of(model_of(sum_of(plain, plain, plain))), ElementsAre("Add"));
}

TEST(OnnxExportNodes, StridesBecomeExpandAndTranspose) {
    const auto broadcast = tensor(DataType::float32, {2, 3}, {0, 1});
    const auto transposed = tensor(DataType::float32, {2, 3}, {1, 2});
    const auto exported = interop::export_onnx(sum_of(broadcast, transposed, transposed));
    ASSERT_TRUE(exported) << exported.error().message;
    EXPECT_THAT(exported->node_types, ElementsAre("Transpose", "Expand", "Add"));
    EXPECT_EQ(exported->inputs[0]->sizes, (core::Dimensions{1, 3}));
    EXPECT_EQ(exported->inputs[1]->sizes, (core::Dimensions{3, 2}));
    EXPECT_EQ(exported->outputs[0]->sizes, (core::Dimensions{2, 3}));
}

TEST(OnnxExportNodes, PortsShowTheElementsInTheOrderOfMemory) {
    core::Tensor memory(tensor(DataType::uint8, {2, 3}, {1, 4}));
    for (std::size_t i = 0; i < memory.buffer.bytes().size(); ++i) {
        memory.buffer.bytes()[i] = static_cast<std::byte>(i);
    }
    const auto exported = interop::export_onnx(
        describe("ELEMENT_WISE_IDENTITY", {{"InputTensor", memory.desc}, {"OutputTensor", memory.desc}}));
    ASSERT_TRUE(exported) << exported.error().message;
    const core::Tensor packed = interop::port_elements(*exported->inputs[0], memory);
    EXPECT_THAT(packed.as<std::uint8_t>().first(6), ElementsAre(0, 1, 4, 5, 8, 9));
    core::Tensor back(memory.desc);
    std::ranges::fill(back.buffer.bytes(), std::byte{77});
    interop::store_port_elements(*exported->inputs[0], packed.buffer.bytes(), back);
    EXPECT_THAT(back.as<std::uint8_t>().first(10), ElementsAre(0, 1, 77, 77, 4, 5, 77, 77, 8, 9));
}

TEST(OnnxExportNodes, TypesThatANodeDoesNotTakeAreCast) {
    const core::TensorDesc bytes = tensor(DataType::int8, {4});
    EXPECT_THAT(types_of(model_of(sum_of(bytes, bytes, bytes), 13)),
                ElementsAre("Cast", "Cast", "Add", "Sub", "Mod", "Add", "Cast"))
        << "engines do not agree on a cast of sums that INT8 does not have";
    EXPECT_THAT(types_of(model_of(sum_of(bytes, bytes, bytes), 14)), ElementsAre("Add"));
}

TEST(OnnxExportNodes, ScaleAndBiasComeFirst) {
    const core::TensorDesc plain = tensor(DataType::float32, {4});
    const auto descriptor =
        describe("ELEMENT_WISE_SQRT",
                 {{"InputTensor", plain}, {"OutputTensor", plain}, {"ScaleBias", operators::ScaleBias{2, 3}}});
    EXPECT_THAT(types_of(model_of(descriptor)), ElementsAre("Mul", "Add", "Sqrt"));
}

TEST(OnnxExportNodes, SaysWhatOnnxCannotExpress) {
    const core::TensorDesc state = tensor(DataType::uint32, {1, 1, 1, 6});
    const auto exported = interop::export_onnx(describe(
        "RANDOM_GENERATOR", {{"InputStateTensor", state}, {"OutputTensor", state}, {"OutputStateTensor", nullptr}}));
    ASSERT_FALSE(exported);
    EXPECT_THAT(exported.error().message, HasSubstr("Philox"));
}

}  // namespace
}  // namespace onnx_export_nodes_test
}  // namespace dmlconform::tests

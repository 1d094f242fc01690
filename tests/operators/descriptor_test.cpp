// Tests of engine/operators/descriptor (access by name, the order of tensors, printing) and of
// tests/descriptor_builder.h.
#include "engine/operators/descriptor.h"

#include <gtest/gtest.h>

#include "tests/descriptor_builder.h"

namespace dmlconform::tests::descriptor_test {
namespace {

using core::DataType;
using operators::Descriptor;

Descriptor slice() {
    return describe("SLICE1", {{"InputTensor", tensor(DataType::float32, {4, 4})},
                               {"OutputTensor", tensor(DataType::float32, {2, 2})},
                               {"InputWindowOffsets", {0, 1}},
                               {"InputWindowSizes", {4, 3}},
                               {"InputWindowStrides", {-2, 2}}});
}

/// A schema with each field type that SLICE1 and similar operators lack.
operators::OperatorSchema synthetic() {
    const auto schema = operators::parse_schema(R"({
      "operator": "DML_OPERATOR_SYNTHETIC", "number": 999, "featureLevel": "1.0",
      "fields": [
        { "name": "InputCount", "kind": "attribute", "type": "UINT" },
        { "name": "InputTensors", "kind": "input", "type": "TENSOR_DESC_ARRAY", "count": "InputCount" },
        { "name": "MaskTensor", "kind": "input", "type": "TENSOR_DESC", "optional": true },
        { "name": "OutputTensor", "kind": "output", "type": "TENSOR_DESC" },
        { "name": "Mode", "kind": "attribute", "type": "UINT", "enum": "DML_PADDING_MODE" },
        { "name": "Exponent", "kind": "attribute", "type": "INT" },
        { "name": "ScaleCount", "kind": "attribute", "type": "UINT" },
        { "name": "Scales", "kind": "attribute", "type": "FLOAT_ARRAY", "count": "ScaleCount" },
        { "name": "ScaleBias", "kind": "attribute", "type": "SCALE_BIAS", "optional": true },
        { "name": "PooledSize", "kind": "attribute", "type": "SIZE_2D" },
        { "name": "ValueDataType", "kind": "attribute", "type": "UINT", "enum": "DML_TENSOR_DATA_TYPE" },
        { "name": "Value", "kind": "attribute", "type": "SCALAR_UNION", "dataType": "ValueDataType" },
        { "name": "ActivationCount", "kind": "attribute", "type": "UINT" },
        { "name": "Activations", "kind": "attribute", "type": "OPERATOR_DESC_ARRAY", "count": "ActivationCount" }
      ],
      "tensorSupport": [], "constraints": [] })");
    return schema.value();
}

Descriptor synthetic_descriptor(const operators::OperatorSchema& schema) {
    return describe(
        schema,
        {{"InputTensors", operators::TensorDescArray{{tensor(DataType::int8, {2}), tensor(DataType::int8, {3})}}},
         {"OutputTensor", tensor(DataType::int8, {5})},
         {"Mode", 2},
         {"Exponent", -3},
         {"Scales", std::vector<float>{0.5f, 2.0f}},
         {"ScaleBias", operators::ScaleBias{2.0f, -0.5f}},
         {"PooledSize", operators::Size2D{3, 4}},
         {"ValueDataType", 1},
         {"Value", operators::ScalarUnion{0x3fc00000}},
         {"Activations", operators::OperatorDescArray{
                             {activation("ACTIVATION_RELU"), activation("ACTIVATION_ELU", {{"Alpha", 0.5}})}}}});
}

TEST(DescriptorBuilder, FillsInCountsAndTakesTheFieldsTypes) {
    const Descriptor descriptor = slice();
    EXPECT_EQ(descriptor.uint("DimensionCount"), 2u);
    EXPECT_EQ(descriptor.uints("InputWindowSizes"), (std::vector<std::uint32_t>{4, 3}));
    EXPECT_EQ(descriptor.get<std::vector<std::int32_t>>("InputWindowStrides"), (std::vector<std::int32_t>{-2, 2}));
    EXPECT_EQ(with(descriptor, {{"InputWindowOffsets", {0, 0, 0}}}).uint("DimensionCount"), 3u);
    EXPECT_EQ(with(descriptor, {{"InputWindowOffsets", {0, 0, 0}}, {"DimensionCount", 2}}).uint("DimensionCount"), 2u);
    EXPECT_THROW((void)with(descriptor, {{"Axis", 1}}), std::logic_error);
    EXPECT_THROW((void)with(descriptor, {{"InputTensor", 1}}), std::logic_error);
    EXPECT_THROW((void)describe("NO_SUCH_OPERATOR", {}), std::logic_error);
    const auto schema = synthetic();
    const Descriptor other = synthetic_descriptor(schema);
    EXPECT_EQ(other.uint("InputCount"), 2u);
    EXPECT_EQ(other.uint("ScaleCount"), 2u);
    EXPECT_EQ(other.uint("ActivationCount"), 2u);
    EXPECT_EQ(other.get<std::int32_t>("Exponent"), -3);
}

TEST(Descriptor, AccessByName) {
    const Descriptor descriptor =
        describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", tensor(DataType::float32, {4})},
                                                  {"Epsilon", 0.25},
                                                  {"FusedActivation", activation("ACTIVATION_ELU", {{"Alpha", 2}})}});
    ASSERT_NE(descriptor.tensor("InputTensor"), nullptr);
    EXPECT_EQ(descriptor.sizes("InputTensor"), (core::Dimensions{4}));
    EXPECT_EQ(descriptor.tensor("ScaleTensor"), nullptr);
    EXPECT_EQ(descriptor.number("Epsilon"), 0.25f);
    ASSERT_NE(descriptor.activation("FusedActivation"), nullptr);
    EXPECT_EQ(descriptor.activation("FusedActivation")->number("Alpha"), 2.0f);
    EXPECT_EQ(with(descriptor, {{"FusedActivation", nullptr}}).activation("FusedActivation"), nullptr);
    // Programming errors throw.
    EXPECT_THROW((void)descriptor.value("Epsilom"), std::logic_error);
    EXPECT_THROW((void)descriptor.tensor("Input"), std::logic_error);
    EXPECT_THROW((void)descriptor.uint("Epsilon"), std::bad_variant_access);
    EXPECT_THROW((void)descriptor.number("Axes"), std::bad_variant_access);
}

TEST(Descriptor, TensorsInBindingOrder) {
    const auto schema = synthetic();
    const Descriptor descriptor = synthetic_descriptor(schema);
    const auto inputs = descriptor.inputs();
    ASSERT_EQ(inputs.size(), 3u);
    EXPECT_EQ(inputs[0].name, "InputTensors[0]");
    EXPECT_EQ(inputs[0].desc->sizes, (core::Dimensions{2}));
    EXPECT_EQ(inputs[1].name, "InputTensors[1]");
    EXPECT_EQ(inputs[1].desc->sizes, (core::Dimensions{3}));
    // An absent optional tensor keeps its index.
    EXPECT_EQ(inputs[2].name, "MaskTensor");
    EXPECT_EQ(inputs[2].desc, nullptr);
    const auto outputs = descriptor.outputs();
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0].name, "OutputTensor");
    EXPECT_EQ(outputs[0].desc, descriptor.tensor("OutputTensor"));

    const Descriptor convolution = describe("QUANTIZED_LINEAR_CONVOLUTION", {});
    std::vector<std::string> names;
    for (const auto& slot : convolution.inputs()) {
        names.push_back(slot.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"InputTensor", "InputScaleTensor", "InputZeroPointTensor",
                                               "FilterTensor", "FilterScaleTensor", "FilterZeroPointTensor",
                                               "BiasTensor", "OutputScaleTensor", "OutputZeroPointTensor"}));
}

TEST(Descriptor, Printing) {
    EXPECT_EQ(to_lines(slice()), (std::vector<std::string>{"InputTensor: FLOAT32 [4,4]", "OutputTensor: FLOAT32 [2,2]",
                                                           "DimensionCount: 2", "InputWindowOffsets: [0,1]",
                                                           "InputWindowSizes: [4,3]", "InputWindowStrides: [-2,2]"}));
    const auto schema = synthetic();
    EXPECT_EQ(to_lines(synthetic_descriptor(schema)),
              (std::vector<std::string>{
                  "InputCount: 2", "InputTensors: [INT8 [2]; INT8 [3]]", "MaskTensor: null", "OutputTensor: INT8 [5]",
                  "Mode: REFLECTION", "Exponent: -3", "ScaleCount: 2", "Scales: [0.5,2]",
                  "ScaleBias: {Scale=2, Bias=-0.5}", "PooledSize: {Width=3, Height=4}", "ValueDataType: FLOAT32",
                  "Value: 1.5", "ActivationCount: 2", "Activations: [ACTIVATION_RELU; ACTIVATION_ELU(Alpha=0.5)]"}));
    EXPECT_EQ(to_string(*schema.find_field("Value"), operators::ScalarUnion{0xbeef}), "0xbeef")
        << "without the type, the bits";
    for (const double type : {0.0, 14.0}) {
        const Descriptor untyped = with(synthetic_descriptor(schema), {{"ValueDataType", type}});
        EXPECT_EQ(to_lines(untyped)[11], "Value: 0x3fc00000");
        EXPECT_EQ(untyped.scalar_type(*schema.find_field("Value")), DataType::unknown);
    }
    const auto& mode = *schema.find_field("Mode");
    EXPECT_EQ(to_string(mode, std::uint32_t{9}), "9") << "a value without a name";
    const auto* normalization = operators::find_operator("MEAN_VARIANCE_NORMALIZATION1");
    EXPECT_EQ(to_string(*normalization->find_field("NormalizeVariance"), std::uint32_t{1}), "TRUE");
    EXPECT_EQ(to_string(*normalization->find_field("FusedActivation"),
                        activation("ACTIVATION_SHRINK", {{"Bias", 1}, {"Threshold", 0.25}})),
              "ACTIVATION_SHRINK(Bias=1, Threshold=0.25)");
}

}  // namespace
}  // namespace dmlconform::tests::descriptor_test

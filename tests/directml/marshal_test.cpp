// Tests of engine/directml/marshal: the bytes passed to CreateOperator equal structs that a C compiler lays out.
#include "engine/directml/marshal.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "tests/descriptor_builder.h"

namespace dmlconform::directml::marshal_test {
namespace {

using core::DataType;
using operators::Descriptor;
using operators::FieldValue;
using tests::tensor;

template <class Struct>
Struct struct_of(const MarshalledOperator& marshalled) {
    EXPECT_LE(marshalled.struct_size(), sizeof(Struct));
    EXPECT_GT(marshalled.struct_size() + alignof(Struct), sizeof(Struct))
        << "only the padding at the end may be missing";
    Struct result{};
    std::memcpy(static_cast<void*>(&result), marshalled.desc().desc, marshalled.struct_size());
    return result;
}

const BufferTensorDesc& buffer_of(const TypedDesc* tensor) {
    EXPECT_EQ(tensor->type, buffer_tensor_type);
    return *static_cast<const BufferTensorDesc*>(tensor->desc);
}

TEST(Marshal, SliceAsTheHeaderDeclaresIt) {
    struct Slice1 {
        const TypedDesc* input;
        const TypedDesc* output;
        std::uint32_t dimension_count;
        const std::uint32_t* offsets;
        const std::uint32_t* sizes;
        const std::int32_t* strides;
    };
    auto desc = tests::describe("SLICE1", {{"InputTensor", tensor(DataType::int8, {4, 4}, {8, 2})},
                                           {"OutputTensor", tensor(DataType::int8, {2, 2})},
                                           {"InputWindowOffsets", {0, 1}},
                                           {"InputWindowSizes", {4, 3}},
                                           {"InputWindowStrides", {-2, 2}}});
    std::get<core::TensorDesc>(desc.values[0]).flags = core::TensorFlags::owned_by_dml;
    std::get<core::TensorDesc>(desc.values[0]).base_offset_alignment = 64;
    const MarshalledOperator marshalled(desc);
    EXPECT_EQ(marshalled.desc().type, 111u);
    const auto slice = struct_of<Slice1>(marshalled);
    const BufferTensorDesc& input = buffer_of(slice.input);
    EXPECT_EQ(input.data_type, 8u);
    EXPECT_EQ(input.flags, 1u);
    ASSERT_EQ(input.dimension_count, 2u);
    EXPECT_EQ(input.sizes[1], 4u);
    ASSERT_NE(input.strides, nullptr);
    EXPECT_EQ(input.strides[0], 8u);
    EXPECT_EQ(input.strides[1], 2u);
    EXPECT_EQ(input.total_bytes, 32u);
    EXPECT_EQ(input.base_offset_alignment, 64u);
    EXPECT_EQ(buffer_of(slice.output).strides, nullptr) << "packed";
    EXPECT_EQ(slice.dimension_count, 2u);
    EXPECT_EQ(slice.offsets[1], 1u);
    EXPECT_EQ(slice.sizes[0], 4u);
    EXPECT_EQ(slice.strides[0], -2);
    EXPECT_EQ(slice.strides[1], 2);
}

/// Fields of every kind, in an order that needs all kinds of padding.
const operators::OperatorSchema& every_kind() {
    static const auto schema = operators::parse_schema(R"({
        "operator": "DML_OPERATOR_EVERY_KIND", "number": 999, "featureLevel": "1.0",
        "fields": [
            { "name": "Mode", "kind": "attribute", "type": "UINT" },
            { "name": "Inputs", "kind": "input", "type": "TENSOR_DESC_ARRAY", "count": "Mode" },
            { "name": "Output", "kind": "output", "type": "TENSOR_DESC" },
            { "name": "Alpha", "kind": "attribute", "type": "FLOAT" },
            { "name": "Size", "kind": "attribute", "type": "SIZE_2D" },
            { "name": "Value", "kind": "attribute", "type": "SCALAR_UNION", "dataType": "Last" },
            { "name": "Axis", "kind": "attribute", "type": "INT" },
            { "name": "ScaleBias", "kind": "attribute", "type": "SCALE_BIAS", "optional": true },
            { "name": "Scales", "kind": "attribute", "type": "FLOAT_ARRAY", "count": "Mode" },
            { "name": "Activation", "kind": "attribute", "type": "OPERATOR_DESC", "optional": true },
            { "name": "Activations", "kind": "attribute", "type": "OPERATOR_DESC_ARRAY", "count": "Mode" },
            { "name": "Last", "kind": "attribute", "type": "UINT", "enum": "DML_TENSOR_DATA_TYPE" }
        ], "tensorSupport": [], "constraints": [] })");
    return schema.value();
}

struct EveryKind {
    std::uint32_t mode;
    const TypedDesc* inputs;
    const TypedDesc* output;
    float alpha;
    struct {
        std::uint32_t width;
        std::uint32_t height;
    } size;
    union {
        std::uint8_t bytes[8];
        double float64;
    } value;
    std::int32_t axis;
    const float* scale_bias;
    const float* scales;
    const TypedDesc* activation;
    const TypedDesc* activations;
    std::uint32_t last;
};

Descriptor filled() {
    const auto elu = std::make_shared<const Descriptor>(
        tests::describe("ACTIVATION_ELU", {{"InputTensor", nullptr}, {"OutputTensor", nullptr}, {"Alpha", 0.5}}));
    const auto relu = std::make_shared<const Descriptor>(
        tests::describe("ACTIVATION_RELU", {{"InputTensor", nullptr}, {"OutputTensor", nullptr}}));
    return {&every_kind(),
            {FieldValue(std::uint32_t{2}),
             operators::TensorDescArray{{tensor(DataType::float32, {1}), tensor(DataType::float16, {3})}},
             tensor(DataType::float64, {5}), FieldValue(0.25F), operators::Size2D{7, 8},
             operators::ScalarUnion{0x3ff0000000000000}, FieldValue(std::int32_t{-3}), operators::ScaleBias{2, 3},
             std::vector<float>{1, 4}, operators::OperatorDesc(elu), operators::OperatorDescArray{{relu, elu}},
             FieldValue(std::uint32_t{77})}};
}

TEST(Marshal, EveryKindOfField) {
    const MarshalledOperator marshalled(filled());
    EXPECT_EQ(marshalled.desc().type, 999u);
    const auto all = struct_of<EveryKind>(marshalled);
    EXPECT_EQ(all.mode, 2u);
    EXPECT_EQ(buffer_of(&all.inputs[1]).sizes[0], 3u);
    EXPECT_EQ(buffer_of(all.output).data_type, 9u);
    EXPECT_EQ(all.alpha, 0.25F);
    EXPECT_EQ(all.size.width, 7u);
    EXPECT_EQ(all.size.height, 8u);
    EXPECT_EQ(all.value.float64, 1.0);
    EXPECT_EQ(all.axis, -3);
    EXPECT_EQ(all.scale_bias[0], 2);
    EXPECT_EQ(all.scale_bias[1], 3);
    EXPECT_EQ(all.scales[1], 4);
    EXPECT_EQ(all.activations[0].type, operators::find_operator("ACTIVATION_RELU")->number);
    EXPECT_EQ(all.activations[1].type, operators::find_operator("ACTIVATION_ELU")->number);
    EXPECT_EQ(all.last, 77u);
    struct Elu {
        const TypedDesc* input;
        const TypedDesc* output;
        float alpha;
    };
    const auto& elu = *static_cast<const Elu*>(all.activation->desc);
    EXPECT_EQ(elu.input, nullptr) << "a fused activation has no tensors";
    EXPECT_EQ(elu.alpha, 0.5F);
}

TEST(Marshal, AbsentTensorsAreNullAndOthersKeepTheirIndex) {
    Descriptor desc = filled();
    for (const std::size_t absent : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u}) {
        desc.values[absent] = operators::Null{};
    }
    const auto all = struct_of<EveryKind>(MarshalledOperator(desc));
    EXPECT_EQ(all.inputs, nullptr);
    EXPECT_EQ(all.output, nullptr);
    EXPECT_EQ(all.size.width, 0u);
    EXPECT_EQ(all.value.float64, 0);
    EXPECT_EQ(all.scale_bias, nullptr);
    EXPECT_EQ(all.scales, nullptr);
    EXPECT_EQ(all.activation, nullptr);
    EXPECT_EQ(all.activations, nullptr);
    EXPECT_EQ(all.last, 77u);
}

TEST(Marshal, AnArrayWithoutElementsIsNoNullPointer) {
    Descriptor desc = filled();
    desc.values[8] = std::vector<float>{};
    desc.values[10] = operators::OperatorDescArray{};
    const auto all = struct_of<EveryKind>(MarshalledOperator(desc));
    EXPECT_NE(all.scales, nullptr);
    EXPECT_NE(all.activations, nullptr);
}

TEST(Marshal, AValueOfAnotherTypeIsNotMarshalled) {
    Descriptor desc = filled();
    desc.values[0] = FieldValue(0.5F);
    EXPECT_THROW(MarshalledOperator{desc}, std::logic_error);
}

TEST(Marshal, PointsToNothingOfTheDescriptor) {
    auto desc = std::make_unique<Descriptor>(filled());
    const MarshalledOperator marshalled(*desc);
    desc.reset();
    EXPECT_EQ(buffer_of(struct_of<EveryKind>(marshalled).output).sizes[0], 5u);
}

}  // namespace
}  // namespace dmlconform::directml::marshal_test

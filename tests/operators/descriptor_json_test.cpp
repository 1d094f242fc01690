// Tests of engine/operators/descriptor_json: descriptors are received as they were sent, and invalid messages are
// rejected.
#include "engine/operators/descriptor_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/descriptor_builder.h"
#include "tests/random_descriptor.h"

namespace dmlconform::tests::descriptor_json_test {
namespace {

using core::DataType;
using nlohmann::json;
using operators::Descriptor;

Descriptor slice() {
    return describe("SLICE1", {{"InputTensor", tensor(DataType::float32, {4, 4})},
                               {"OutputTensor", tensor(DataType::float32, {2, 2}, {3, 1})},
                               {"InputWindowOffsets", {0, 1}},
                               {"InputWindowSizes", {4, 3}},
                               {"InputWindowStrides", {-2, 2}}});
}

Descriptor normalization() {
    const core::TensorDesc data = tensor(DataType::float16, {1, 2, 3, 4});
    return describe("MEAN_VARIANCE_NORMALIZATION1",
                    {{"InputTensor", data},
                     {"ScaleTensor", data},
                     {"BiasTensor", data},
                     {"OutputTensor", data},
                     {"Axes", {2, 3}},
                     {"NormalizeVariance", 1},
                     {"Epsilon", 1e-5f},
                     {"FusedActivation", activation("ACTIVATION_SCALED_ELU", {{"Alpha", 0.1}, {"Gamma", -2}})}});
}

std::vector<Descriptor> descriptors() {
    core::TensorDesc odd = tensor(DataType::int64, {0, 0xffffffff});
    odd.total_bytes = 0xffffffffffffffff;
    odd.flags = static_cast<core::TensorFlags>(7);
    odd.base_offset_alignment = 3;
    return {slice(),
            with(slice(), {{"InputTensor", odd}, {"InputWindowSizes", nullptr}}),
            with(slice(), {{"InputTensor", nullptr},
                           {"InputWindowOffsets", {}},
                           {"InputWindowSizes", {}},
                           {"InputWindowStrides", {}}}),
            normalization(),
            with(normalization(), {{"ScaleTensor", nullptr}, {"FusedActivation", nullptr}, {"NormalizeVariance", 0}}),
            describe("TOP_K1", {{"InputTensor", tensor(DataType::uint8, {9})},
                                {"OutputValueTensor", tensor(DataType::uint8, {3})},
                                {"OutputIndexTensor", tensor(DataType::uint32, {3})},
                                {"K", 3},
                                {"AxisDirection", 1}}),
            describe("TOP_K1", {{"AxisDirection", 77}})};  // not an enumerator
}

TEST(DescriptorJson, ComesBackAsItWas) {
    for (const Descriptor& descriptor : descriptors()) {
        const json sent = operators::descriptor_to_json(descriptor);
        const auto received = operators::descriptor_from_json(sent);
        ASSERT_TRUE(received.has_value()) << received.error().message << "\n" << sent.dump(1);
        EXPECT_EQ(received->schema, descriptor.schema);
        EXPECT_EQ(operators::to_lines(*received), operators::to_lines(descriptor));
        // Members that printing omits.
        EXPECT_EQ(operators::descriptor_to_json(*received), sent);
        EXPECT_EQ(received->inputs().size(), descriptor.inputs().size());
        for (std::size_t i = 0; i < descriptor.inputs().size(); ++i) {
            const core::TensorDesc* before = descriptor.inputs()[i].desc;
            const core::TensorDesc* after = received->inputs()[i].desc;
            ASSERT_EQ(before == nullptr, after == nullptr);
            EXPECT_TRUE(before == nullptr || *before == *after);
        }
    }
}

TEST(DescriptorJson, InPlace) {
    const auto desc = tensor(DataType::float32, {5});
    Descriptor add = describe("ELEMENT_WISE_ADD", {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}});
    EXPECT_FALSE(operators::descriptor_to_json(add).contains("inPlace"));
    add.in_place = {1};
    json sent = operators::descriptor_to_json(add);
    EXPECT_EQ(sent["inPlace"], json({{"OutputTensor", "BTensor"}}));
    const auto received = operators::descriptor_from_json(sent);
    ASSERT_TRUE(received.has_value());
    EXPECT_EQ(received->in_place, add.in_place);
    for (const json& wrong :
         {json({{"OutputTensor", "CTensor"}}), json({{"OutputTensor", 1}}), json::array({"BTensor"}), json::array(),
          json(), json("BTensor"), json({{"ATensor", "BTensor"}})}) {
        sent["inPlace"] = wrong;
        const auto refused = operators::descriptor_from_json(sent);
        ASSERT_FALSE(refused.has_value()) << wrong;
        EXPECT_NE(refused.error().message.find("inPlace"), std::string::npos);
    }
}

TEST(DescriptorJson, ReadsLikeACaseFile) {
    const json sent = operators::descriptor_to_json(slice());
    EXPECT_EQ(sent["operator"], "DML_OPERATOR_SLICE1");
    EXPECT_EQ(sent["desc"]["InputTensor"], json({{"DataType", "FLOAT32"},
                                                 {"Flags", 0},
                                                 {"Sizes", {4, 4}},
                                                 {"TotalTensorSizeInBytes", 64},
                                                 {"GuaranteedBaseOffsetAlignment", 0}}));
    EXPECT_EQ(sent["desc"]["OutputTensor"]["Strides"], json({3, 1}));
    EXPECT_EQ(sent["desc"]["DimensionCount"], 2);
    EXPECT_EQ(sent["desc"]["InputWindowStrides"], json({-2, 2}));
    const json fused = operators::descriptor_to_json(normalization())["desc"]["FusedActivation"];
    EXPECT_EQ(fused["Type"], "DML_OPERATOR_ACTIVATION_SCALED_ELU");
    EXPECT_EQ(fused["Desc"]["Gamma"], -2.0);
    EXPECT_EQ(operators::descriptor_to_json(describe("TOP_K1", {{"AxisDirection", 1}}))["desc"]["AxisDirection"],
              "DECREASING");
}

struct Row {
    const char* where;
    const char* patch;  // a JSON merge patch, in which null removes a member
    const char* message;
};

TEST(DescriptorJson, EveryOperatorOfTheCatalogueIsReadAsItIsWritten) {
    RandomDescriptors random(5);
    for (const std::string& name : operators::operator_names()) {
        for (int i = 0; i < 5; ++i) {
            const auto written = random.make(*operators::find_operator(name));
            const auto read = operators::descriptor_from_json(operators::descriptor_to_json(written));
            ASSERT_TRUE(read.has_value()) << name << ": " << read.error().message;
            ASSERT_EQ(to_lines(*read), to_lines(written));
        }
    }
}

TEST(DescriptorJson, WhatIsNotADescriptor) {
    const Row rows[] = {
        {"", R"({"operator": null})", "has no operator"},
        {"", R"({"operator": 3})", "operator is not an operator that the catalogue has"},
        {"", R"({"operator": "SLICE9"})", "operator is not an operator that the catalogue has"},
        {"", R"({"desc": null})", "has no desc"},
        {"", R"({"desc": [1]})", "the fields of DML_OPERATOR_SLICE1 are not a map"},
        {"/desc", R"({"Extra": 1})", "DML_OPERATOR_SLICE1 has no field Extra"},
        {"/desc", R"({"InputWindowSizes": null})", "DML_OPERATOR_SLICE1 has no InputWindowSizes"},
        {"/desc", R"({"InputTensor": 5})", "InputTensor has no DataType"},
        {"/desc", R"({"InputWindowSizes": 5})", "InputWindowSizes is not an array"},
        {"/desc", R"({"InputWindowSizes": [4, -1]})", "InputWindowSizes is not an unsigned integer"},
        {"/desc", R"({"InputWindowSizes": [4, 1.5]})", "InputWindowSizes is not an unsigned integer"},
        {"/desc", R"({"InputWindowSizes": [4, 4294967296]})", "InputWindowSizes is 4294967296, more than 4294967295"},
        {"/desc", R"({"InputWindowStrides": [1, 2147483648]})", "InputWindowStrides is not an integer of 32 bits"},
        {"/desc", R"({"InputWindowStrides": [1, -2147483649]})", "InputWindowStrides is not an integer of 32 bits"},
        {"/desc", R"({"InputWindowStrides": [1, 18446744073709551615]})",
         "InputWindowStrides is not an integer of 32 bits"},
        {"/desc", R"({"InputWindowSizes": [4, 3, 2]})", "InputWindowSizes has 3 entries, but DimensionCount"},
        {"/desc", R"({"DimensionCount": 3})", "has 2 entries, but DimensionCount"},
        {"/desc/InputTensor", R"({"DataType": "FLOAT"})", "InputTensor.DataType is not a data type"},
        {"/desc/InputTensor", R"({"DataType": 1})", "InputTensor.DataType is not a data type"},
        {"/desc/InputTensor", R"({"Sizes": null})", "InputTensor has no Sizes"},
        {"/desc/InputTensor", R"({"Strides": [1]})", "InputTensor has 1 strides for 2 sizes"},
        {"/desc/InputTensor", R"({"TotalTensorSizeInBytes": -4})",
         "InputTensor.TotalTensorSizeInBytes is not an unsigned integer"},
        {"/desc/InputTensor", R"({"Flags": "NONE"})", "InputTensor.Flags is not an unsigned integer"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.patch);
        json message = operators::descriptor_to_json(slice());
        message[json::json_pointer(row.where)].merge_patch(json::parse(row.patch));
        const auto read = operators::descriptor_from_json(message);
        ASSERT_FALSE(read.has_value());
        EXPECT_NE(read.error().message.find(row.message), std::string::npos) << read.error().message;
    }
}

TEST(DescriptorJson, WhatIsNoActivationOrNumber) {
    const Row rows[] = {
        {"/desc", R"({"FusedActivation": {"Type": "NONE"}})", "FusedActivation.Type is not an operator"},
        {"/desc/FusedActivation", R"({"Desc": null})", "FusedActivation has no Desc"},
        {"/desc/FusedActivation/Desc", R"({"Alpha": "x"})", "Alpha is not a number"},
        {"/desc/FusedActivation/Desc", R"({"Alpha": 1e39})", "Alpha is beyond the range of a float"},
        {"/desc/FusedActivation/Desc", R"({"Alpha": -1e300})", "Alpha is beyond the range of a float"},
        {"/desc", R"({"NormalizeVariance": "MAYBE"})", "NormalizeVariance is not an enumerator of BOOL"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.patch);
        json message = operators::descriptor_to_json(normalization());
        message[json::json_pointer(row.where)].merge_patch(json::parse(row.patch));
        const auto read = operators::descriptor_from_json(message);
        ASSERT_FALSE(read.has_value());
        EXPECT_NE(read.error().message.find(row.message), std::string::npos) << read.error().message;
    }
}

TEST(DescriptorJson, ActivationsDoNotNestForEver) {
    json message = operators::descriptor_to_json(normalization());
    for (int depth = 0; depth < 5; ++depth) {
        json outer = operators::descriptor_to_json(normalization());
        outer["desc"]["FusedActivation"] = {{"Type", message["operator"]}, {"Desc", message["desc"]}};
        message = std::move(outer);
    }
    const auto read = operators::descriptor_from_json(message);
    ASSERT_FALSE(read.has_value());
    EXPECT_NE(read.error().message.find("nested too deeply"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace dmlconform::tests::descriptor_json_test

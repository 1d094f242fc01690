// Tests of importing ONNX node tests that are generated here: supported ones become cases that run, the others are
// named.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#ifndef _WIN32
#include <unistd.h>
#endif

#include "tests/interop/onnx_passing.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::onnx_node_test_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// NumPy has no BFLOAT16, so such data are stored as another type.
TEST(OnnxImport, TheDataAreOfTheTypeThatTheModelSays) {
    struct Row {
        int declared;
        onnx::TensorProto data;
        const char* reason;
    };
    const Row rows[] = {
        {16, floats({2}, {1, 2}), "output_0.pb: ONNX data type BFLOAT16 has no counterpart"},
        {16, tensor<std::uint16_t>(4, {2}, {1, 2}), "output_0.pb: ONNX data type BFLOAT16 has no counterpart"},
        {8, floats({2}, {1, 2}), "output_0.pb: ONNX data type STRING has no counterpart"},
        {10, floats({2}, {1, 2}), "output_0.pb: the data are of ONNX's data type 1, the model says 10"},
    };
    for (const Row& row : rows) {
        NodeTest test{"Relu", {floats({2}, {1, 2})}, {row.data}};
        EXPECT_THAT(reason(test), testing::Not(HasSubstr("the model says")));
        test.declared_output = row.declared;
        EXPECT_THAT(reason(test), HasSubstr(row.reason));
    }
    NodeTest right{"Relu", {floats({2}, {1, 2})}, {floats({2}, {1, 2})}};
    right.declared_output = 1;
    EXPECT_EQ(imported(right).descriptor->schema->short_name(), "ACTIVATION_RELU");
}

TEST(OnnxImport, SliceWithNegativeStepsAndOpenEnds) {
    const auto subject =
        imported({"Slice",
                  {floats({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), longs({2}, {0, -1}),
                   longs({2}, {2, std::numeric_limits<std::int64_t>::min()}), longs({2}, {0, 1}), longs({2}, {1, -2})},
                  {floats({2, 2}, {3, 1, 7, 5})}});
    EXPECT_EQ(subject.id, "onnx/test_it");
    EXPECT_EQ(subject.descriptor->schema->short_name(), "SLICE1");
    EXPECT_THAT(subject.descriptor->uints("InputWindowOffsets"), ElementsAre(0, 0));
    EXPECT_THAT(subject.descriptor->uints("InputWindowSizes"), ElementsAre(2, 4));
    EXPECT_THAT(subject.descriptor->get<std::vector<std::int32_t>>("InputWindowStrides"), ElementsAre(1, -2));
    EXPECT_FALSE(subject.tolerances[0].has_value());
}

TEST(OnnxImport, TopKHasUnsignedIndices) {
    const auto subject = imported({"TopK",
                                   {floats({4}, {1, 4, 2, 3}), longs({1}, {2})},
                                   {floats({2}, {4, 3}), longs({2}, {1, 3})},
                                   {integer("axis", -1)}});
    EXPECT_EQ(subject.descriptor->uint("K"), 2u);
    EXPECT_EQ(subject.descriptor->uint("AxisDirection"), 1u);
    EXPECT_EQ(subject.descriptor->tensor("OutputIndexTensor")->data_type, core::DataType::uint64);
    // The axis exceeds the number of the output's dimensions.
    EXPECT_THAT(reason({"TopK",
                        {floats({1, 1, 4}, {1, 4, 2, 3}), longs({1}, {2})},
                        {floats({2}, {4, 3}), longs({2}, {1, 3})},
                        {integer("axis", 2)}}),
                HasSubstr("with other dimensions than its data"));
}

TEST(OnnxImport, AGatherWithAScalarIndexLeavesADimension) {
    const auto matrix = floats({3, 2}, {1, 2, 3, 4, 5, 6});
    const auto row = passing({"Gather", {matrix, longs({}, {-2})}, {floats({2}, {3, 4})}});
    EXPECT_THAT(row.descriptor->sizes("OutputTensor"), ElementsAre(1, 2));
    const auto column = passing({"Gather", {matrix, longs({}, {1})}, {floats({3}, {2, 4, 6})}, {integer("axis", 1)}});
    EXPECT_THAT(column.descriptor->sizes("OutputTensor"), ElementsAre(3, 1));
    EXPECT_THAT(reason({"Gather", {matrix, longs({2}, {0, 1})}, {floats({2}, {1, 2})}}),
                HasSubstr("do not follow from those of the indices"));
}

TEST(OnnxImport, TensorsOfTooManyDimensions) {
    const auto flat = floats(std::vector<std::int64_t>(65, 1), {1});
    EXPECT_THAT(reason({"Neg", {flat}, {flat}}), HasSubstr("65 dimensions"));
}

TEST(OnnxImport, WhatIsBroadcastHasStridesOfZero) {
    const auto subject = imported({"Add",
                                   {floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3}, {10, 20, 30})},
                                   {floats({2, 3}, {11, 22, 33, 14, 25, 36})}});
    EXPECT_EQ(subject.descriptor->tensor("BTensor")->strides, (core::Dimensions{0, 1}));
    EXPECT_EQ(subject.tolerances[0]->rel, 1e-3);
    EXPECT_TRUE(subject.expected_in_fp32);
    core::Tensor b(*subject.descriptor->tensor("BTensor"));
    ASSERT_TRUE(subject.inputs[1]->fill(b));
    EXPECT_THAT(values_of<float>(b), ElementsAre(10, 20, 30, 10, 20, 30));
}

TEST(OnnxImport, CodesOfQuotientsAreThoseOfAnFp32Implementation) {
    const auto subject = passing(
        {"QuantizeLinear",
         {floats({2}, {4.552415370941162F, -3}), floats({}, {0.06744319200515747F}), tensor<std::int8_t>(3, {}, {0})},
         {tensor<std::int8_t>(3, {2}, {68, -44})}});
    EXPECT_TRUE(subject.expected_in_fp32);
    EXPECT_EQ(subject.tolerances[0], std::nullopt);
}

TEST(OnnxImport, TransposeIsACopyFromOtherStrides) {
    const auto subject =
        imported({"Transpose", {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {floats({3, 2}, {1, 4, 2, 5, 3, 6})}});
    const core::TensorDesc& input = *subject.descriptor->tensor("InputTensor");
    EXPECT_EQ(input.strides, (core::Dimensions{1, 3}));
    core::Tensor tensor(input);
    ASSERT_TRUE(subject.inputs[0]->fill(tensor));
    EXPECT_THAT(values_of<float>(tensor), ElementsAre(1, 4, 2, 5, 3, 6));
    // The data in memory are unchanged.
    EXPECT_EQ(tensor.as<float>()[1], 2);
}

TEST(OnnxImport, ManyOperatorsBecomeCases) {
    const auto x = floats({1, 2, 2, 1}, {1, 2, 3, 4});
    EXPECT_EQ(imported({"Relu", {x}, {x}}).descriptor->schema->short_name(), "ACTIVATION_RELU");
    EXPECT_EQ(imported({"Cast", {x}, {tensor<std::int32_t>(6, {1, 2, 2, 1}, {1, 2, 3, 4})}})
                  .descriptor->tensor("OutputTensor")
                  ->data_type,
              core::DataType::int32);
    EXPECT_EQ(imported({"Concat", {x, x}, {floats({2, 2, 2, 1}, {1, 2, 3, 4, 1, 2, 3, 4})}, {integer("axis", 0)}})
                  .descriptor->inputs()
                  .size(),
              2u);
    EXPECT_EQ(
        imported(
            {"Split", {floats({4}, {1, 2, 3, 4})}, {floats({1}, {1}), floats({3}, {2, 3, 4})}, {integer("axis", 0)}})
            .descriptor->outputs()
            .size(),
        2u);
    const auto gather = imported({"Gather",
                                  {floats({3, 2}, {1, 2, 3, 4, 5, 6}), longs({2, 1}, {2, 0})},
                                  {floats({2, 1, 2}, {5, 6, 1, 2})},
                                  {integer("axis", 0)}});
    EXPECT_EQ(gather.descriptor->uint("Axis"), 1u);
    EXPECT_EQ(gather.descriptor->uint("IndexDimensions"), 2u);
    const auto normalization = imported({"InstanceNormalization", {x, floats({2}, {1, 2}), floats({2}, {0, 1})}, {x}});
    EXPECT_THAT(normalization.descriptor->sizes("ScaleTensor"), ElementsAre(1, 2, 1, 1));
    EXPECT_THAT(normalization.descriptor->uints("Axes"), ElementsAre(2, 3));
    EXPECT_THAT(imported({"MeanVarianceNormalization", {x}, {x}}).descriptor->uints("Axes"), ElementsAre(0, 2, 3));
    EXPECT_THAT(imported({"Softmax", {x}, {x}}).descriptor->uints("Axes"), ElementsAre(3));
    const auto one = tensor<std::uint8_t>(2, {}, {0});
    const auto scale = floats({}, {1});
    const auto image = tensor<std::uint8_t>(2, {1, 1, 2, 2}, {1, 2, 3, 4});
    EXPECT_EQ(imported({"QLinearConv",
                        {image, scale, one, tensor<std::uint8_t>(2, {1, 1, 1, 1}, {2}), floats({1}, {1}),
                         tensor<std::uint8_t>(2, {1}, {0}), scale, one},
                        {tensor<std::uint8_t>(2, {1, 1, 2, 2}, {2, 4, 6, 8})}})
                  .descriptor->schema->short_name(),
              "QUANTIZED_LINEAR_CONVOLUTION");
}

TEST(OnnxImport, WhatHasNoCounterpartIsNamed) {
    const auto x = floats({2}, {1, 2});
    EXPECT_THAT(reason({"Bernoulli", {x}, {x}}), HasSubstr("test_it: Bernoulli has no mapping"));
    EXPECT_THAT(reason({"Add", {x, floats({3}, {1, 2, 3})}, {x}}), HasSubstr("cannot be broadcast"));
    EXPECT_THAT(reason({"Sub", {x, x, x}, {x}}), HasSubstr("Sub has 3 inputs"));
    EXPECT_THAT(reason({"Relu", {tensor<std::int32_t>(8, {2}, {1, 2})}, {x}}), HasSubstr("data type STRING"));
    EXPECT_THAT(reason({"Transpose", {x}, {x}, {integers("perm", {0, 0})}}), HasSubstr("not a permutation"));
    EXPECT_THAT(reason({"Concat", {x, x}, {floats({4}, {1, 2, 1, 2})}, {integer("axis", 7)}}),
                HasSubstr("no such axis"));
    EXPECT_THAT(reason({"Erf", {tensor<double>(11, {2}, {1, 0.1})}, {tensor<double>(11, {2}, {1, 2})}}),
                HasSubstr("InputTensor has data type FLOAT64"));
}

TEST(OnnxImport, HostileFiles) {
    const auto x = floats({2}, {1, 2});
    // Sizes and data disagree, are unreasonably large, or overflow.
    EXPECT_THAT(reason({"Relu", {floats({3}, {1, 2})}, {x}}), HasSubstr("data of another size"));
    EXPECT_THAT(reason({"Relu", {floats({0}, {})}, {x}}), HasSubstr("size 0"));
    EXPECT_THAT(reason({"Relu", {floats({-5}, {1})}, {x}}), HasSubstr("size -5"));
    EXPECT_THAT(reason({"Relu", {floats({1000000, 1000000, 1000000, 1000000}, {1})}, {x}}), HasSubstr("more than"));
    const TemporaryFolder folder;
    write(folder, "broken", {"Relu", {x}, {x}});
    folder.write("broken/test_data_set_0/input_0.pb", "\xff\xff\xff\xff\x0f garbage");
    write(folder, "empty", {"Relu", {x}, {x}});
    folder.write("empty/model.onnx", "");
    write(folder, "gone", {"Relu", {x}, {x}});
    std::filesystem::remove(folder.at("gone/test_data_set_0/output_0.pb"));
    write(folder, "no-data", {"Relu", {x}, {x}});
    std::filesystem::remove_all(folder.at("no-data/test_data_set_0"));
    write(folder, "right", {"Relu", {x}, {x}});
    const auto read = interop::read_onnx_node_tests(folder.at("."));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->cases.size(), 1u);
    EXPECT_THAT(
        read->left_out,
        ElementsAre(HasSubstr("broken: input_0.pb is not such a message"), HasSubstr("empty: the model has 0 nodes"),
                    HasSubstr("gone: there are no data"), HasSubstr("no-data: it has no test_data_set_0")));
    EXPECT_FALSE(interop::read_onnx_node_tests(folder.at("nowhere")).has_value());
    EXPECT_FALSE(interop::read_onnx_node_tests(folder.at("right/test_data_set_0")).has_value());
}

#ifndef _WIN32
/// Reads the folder as an unprivileged user, and prints the problems.
void read_without_rights(const std::string& path) {
    constexpr uid_t nobody = 65534;
    if (geteuid() == 0 && setuid(nobody) != 0) {
        std::exit(1);
    }
    const auto read = interop::read_onnx_node_tests(path);
    fmt::print(stderr, "{}\n", read ? "it was read" : read.error().message);
    std::exit(0);
}

TEST(OnnxImport, AFolderThatMayNotBeRead) {
    testing::GTEST_FLAG(death_test_style) = "fast";
    const TemporaryFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    const auto x = floats({2}, {1, 2});
    write(folder, "right", {"Relu", {x}, {x}});
    std::filesystem::create_directory(folder.at("closed"));
    std::filesystem::permissions(folder.at("closed"), std::filesystem::perms::none);
    EXPECT_EXIT(read_without_rights(folder.path().string()), testing::ExitedWithCode(0),
                "cannot be read: Permission denied");
    std::filesystem::permissions(folder.at("closed"), std::filesystem::perms(0755));
}
#endif

}  // namespace
}  // namespace dmlconform::tests::onnx_node_test_test

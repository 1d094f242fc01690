// Tests of engine/interop/onnx_product: the conversion of matrix products and convolutions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/interop/onnx_node_tests.h"

namespace dmlconform::tests::onnx_product_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 1, 2, 3, …
std::vector<float> counting(const std::vector<std::int64_t>& dims) {
    std::vector<float> values(
        static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>())));
    std::iota(values.begin(), values.end(), 1.0F);
    return values;
}

onnx::TensorProto counted(std::vector<std::int64_t> dims) {
    const auto values = counting(dims);
    return floats(std::move(dims), values);
}

onnx::TensorProto bytes(std::vector<std::int64_t> dims, const std::vector<std::uint8_t>& values) {
    return tensor<std::uint8_t>(2, std::move(dims), values);
}

// ---- matrix products ---------------------------------------------------------------------------------------------

TEST(OnnxProduct, GemmBroadcastsC) {
    const auto gemm =
        imported({"Gemm",
                  {counted({3, 2}), counted({4, 3}), counted({4})},
                  {counted({2, 4})},
                  {integer("transA", 1), integer("transB", 1), number("alpha", 0.5F), number("beta", 2)}});
    EXPECT_EQ(gemm.descriptor->schema->short_name(), "GEMM");
    EXPECT_THAT(gemm.descriptor->sizes("CTensor"), ElementsAre(2, 4));
    EXPECT_THAT(*gemm.descriptor->tensor("CTensor")->strides, ElementsAre(0, 1));
    EXPECT_EQ(gemm.descriptor->uint("TransA"), 1u);
    EXPECT_EQ(gemm.descriptor->uint("TransB"), 1u);
    EXPECT_EQ(gemm.descriptor->get<float>("Alpha"), 0.5F);
    EXPECT_EQ(gemm.descriptor->get<float>("Beta"), 2.0F);
    const auto plain = imported({"Gemm", {counted({2, 3}), counted({3, 4})}, {counted({2, 4})}});
    EXPECT_EQ(plain.descriptor->tensor("CTensor"), nullptr);
    EXPECT_EQ(plain.descriptor->get<float>("Alpha"), 1.0F);
}

struct MatMulCase {
    std::vector<std::int64_t> a;
    std::vector<std::int64_t> b;
    std::vector<std::int64_t> output;
    core::Dimensions a_sizes;
    core::Dimensions b_sizes;
    core::Dimensions output_sizes;
};

/// Follows NumPy's matmul: vectors become rows or columns, and leading dimensions are broadcast.
TEST(OnnxProduct, MatMulTakesAllThatNumPyTakes) {
    const std::vector<MatMulCase> table{
        {{2, 3}, {3, 4}, {2, 4}, {2, 3}, {3, 4}, {2, 4}},
        {{3}, {3, 4}, {4}, {1, 3}, {3, 4}, {1, 4}},
        {{2, 3}, {3}, {2}, {2, 3}, {3, 1}, {2, 1}},
        {{3}, {3}, {}, {1, 3}, {3, 1}, {1, 1}},
        {{5, 2, 3}, {3, 4}, {5, 2, 4}, {5, 2, 3}, {5, 3, 4}, {5, 2, 4}},
        {{5, 1, 2, 3}, {6, 3, 4}, {5, 6, 2, 4}, {5, 6, 2, 3}, {5, 6, 3, 4}, {5, 6, 2, 4}},
        {{3}, {5, 3, 4}, {5, 4}, {5, 1, 3}, {5, 3, 4}, {5, 1, 4}},
    };
    for (const MatMulCase& row : table) {
        const auto product = imported({"MatMul", {counted(row.a), counted(row.b)}, {counted(row.output)}});
        EXPECT_EQ(product.descriptor->schema->short_name(), "GEMM");
        EXPECT_EQ(product.descriptor->sizes("ATensor"), row.a_sizes);
        EXPECT_EQ(product.descriptor->sizes("BTensor"), row.b_sizes);
        EXPECT_EQ(product.descriptor->sizes("OutputTensor"), row.output_sizes);
    }
    EXPECT_THAT(reason({"MatMul", {counted({1, 2, 1, 2, 3}), counted({2, 3, 1})}, {counted({1, 2, 2, 2, 1})}}),
                HasSubstr("two to four dimensions"));
    EXPECT_THAT(reason({"MatMul", {counted({3}), counted({2, 3, 4})}, {counted({4})}}),
                HasSubstr("another number of dimensions"));
    EXPECT_THAT(reason({"MatMul", {counted({2, 2, 3}), counted({3, 3, 4})}, {counted({2, 2, 4})}}),
                HasSubstr("cannot be broadcast"));
}

TEST(OnnxProduct, ParametersAreForRowsAndColumns) {
    const auto a = bytes({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto b = bytes({3, 2}, {1, 2, 3, 4, 5, 6});
    const auto sums = tensor<std::int32_t>(6, {2, 2}, {1, 2, 3, 4});
    const auto each = imported({"MatMulInteger", {a, b, bytes({2}, {1, 2}), bytes({2}, {3, 4})}, {sums}});
    EXPECT_EQ(each.descriptor->schema->short_name(), "MATRIX_MULTIPLY_INTEGER");
    EXPECT_THAT(each.descriptor->sizes("AZeroPointTensor"), ElementsAre(2, 1));
    EXPECT_THAT(each.descriptor->sizes("BZeroPointTensor"), ElementsAre(1, 2));
    const auto one = imported({"MatMulInteger", {a, b, bytes({}, {1})}, {sums}});
    EXPECT_THAT(one.descriptor->sizes("AZeroPointTensor"), ElementsAre(1, 1));
    EXPECT_EQ(one.descriptor->tensor("BZeroPointTensor"), nullptr);
    const auto scale = floats({}, {0.5F});
    const auto quantised =
        imported({"QLinearMatMul",
                  {a, scale, bytes({}, {1}), b, floats({2}, {1, 2}), bytes({2}, {3, 4}), scale, bytes({}, {0})},
                  {bytes({2, 2}, {1, 2, 3, 4})}});
    EXPECT_EQ(quantised.descriptor->schema->short_name(), "QUANTIZED_LINEAR_MATRIX_MULTIPLY");
    EXPECT_THAT(quantised.descriptor->sizes("AScaleTensor"), ElementsAre(1, 1));
    EXPECT_THAT(quantised.descriptor->sizes("BScaleTensor"), ElementsAre(1, 2));
    EXPECT_THAT(quantised.descriptor->sizes("BZeroPointTensor"), ElementsAre(1, 2));
    EXPECT_THAT(quantised.descriptor->sizes("OutputZeroPointTensor"), ElementsAre(1, 1));
}

// ---- convolutions ------------------------------------------------------------------------------------------------

TEST(OnnxProduct, ConvolutionsOfEveryRank) {
    const auto line = imported({"Conv",
                                {counted({1, 4, 5}), counted({2, 2, 3}), counted({2})},
                                {counted({1, 2, 3})},
                                {integer("group", 2), integers("strides", {2}), integers("pads", {1, 1})}});
    EXPECT_EQ(line.descriptor->schema->short_name(), "CONVOLUTION");
    EXPECT_EQ(line.descriptor->uint("GroupCount"), 2u);
    EXPECT_THAT(line.descriptor->sizes("BiasTensor"), ElementsAre(1, 2, 1));
    EXPECT_THAT(line.descriptor->uints("Strides"), ElementsAre(2));
    EXPECT_THAT(line.descriptor->uints("EndPadding"), ElementsAre(1));
    const auto volume = imported({"Conv",
                                  {counted({1, 1, 3, 3, 3}), counted({1, 1, 2, 2, 2})},
                                  {counted({1, 1, 2, 1, 2})},
                                  {integers("dilations", {1, 2, 1})}});
    EXPECT_THAT(volume.descriptor->uints("Dilations"), ElementsAre(1, 2, 1));
    EXPECT_THAT(reason({"Conv", {counted({1, 1}), counted({1, 1})}, {counted({1, 1})}}),
                HasSubstr("one to three spatial dimensions"));
    EXPECT_THAT(
        reason(
            {"Conv", {counted({1, 1, 3}), counted({1, 1, 2})}, {counted({1, 1, 2})}, {integers("kernel_shape", {3})}}),
        HasSubstr("kernel_shape"));
    EXPECT_THAT(
        reason({"Conv", {counted({1, 1, 3}), counted({1, 1, 2})}, {counted({1, 1, 2})}, {integers("strides", {-1})}}),
        HasSubstr("spatial dimensions"));
}

/// SAME_UPPER puts the odd element of padding at the end, SAME_LOWER at the start.
TEST(OnnxProduct, PaddingFollowsFromTheOutput) {
    const auto padding = [](const char* type, const std::vector<std::int64_t>& out,
                            std::vector<onnx::AttributeProto> how) {
        const auto convolution = imported({type, {counted({1, 1, 3}), counted({1, 1, 2})}, {counted(out)}, how});
        return std::array{convolution.descriptor->uints("StartPadding")[0],
                          convolution.descriptor->uints("EndPadding")[0],
                          convolution.descriptor->uints("OutputPadding")[0]};
    };
    EXPECT_THAT(padding("Conv", {1, 1, 3}, {text("auto_pad", "SAME_UPPER")}), ElementsAre(0, 1, 0));
    EXPECT_THAT(padding("Conv", {1, 1, 3}, {text("auto_pad", "SAME_LOWER")}), ElementsAre(1, 0, 0));
    EXPECT_THAT(padding("Conv", {1, 1, 2}, {text("auto_pad", "VALID")}), ElementsAre(0, 0, 0));
    EXPECT_THAT(padding("ConvTranspose", {1, 1, 3}, {text("auto_pad", "SAME_UPPER")}), ElementsAre(0, 1, 0));
    EXPECT_THAT(padding("ConvTranspose", {1, 1, 3}, {text("auto_pad", "SAME_LOWER")}), ElementsAre(1, 0, 0));
    EXPECT_THAT(padding("ConvTranspose", {1, 1, 3}, {integers("output_shape", {3})}), ElementsAre(1, 0, 0));
    EXPECT_THAT(padding("ConvTranspose", {1, 1, 2}, {integers("pads", {1, 1})}), ElementsAre(1, 1, 0));
}

/// With 3 input elements, a stride of 2 and a filter of 2 elements, the full output has 6 elements.
TEST(OnnxProduct, OutputPaddingOfOnnxIsComputed) {
    const auto padding = [](std::int64_t size, std::vector<std::int64_t> pads, std::int64_t added) {
        const auto convolution = imported(
            {"ConvTranspose",
             {counted({1, 1, 3}), counted({1, 1, 2})},
             {counted({1, 1, size})},
             {integers("strides", {2}), integers("pads", std::move(pads)), integers("output_padding", {added})}});
        EXPECT_EQ(convolution.descriptor->uint("Direction"), 1u);
        return std::pair(convolution.descriptor->uints("EndPadding")[0],
                         convolution.descriptor->uints("OutputPadding")[0]);
    };
    EXPECT_EQ(padding(6, {0, 0}, 0), std::pair(0u, 0u));
    EXPECT_EQ(padding(7, {0, 0}, 1), std::pair(0u, 1u)) << "nothing is written there";
    EXPECT_EQ(padding(6, {0, 1}, 1), std::pair(0u, 0u)) << "not a zero, but what is written there";
    EXPECT_EQ(padding(5, {0, 2}, 1), std::pair(1u, 0u));
}

TEST(OnnxProduct, IntegersHaveTwoEntries) {
    const auto convolution =
        imported({"ConvInteger",
                  {bytes({1, 1, 3}, {1, 2, 3}), bytes({2, 1, 2}, {1, 2, 3, 4}), bytes({}, {1}), bytes({2}, {1, 2})},
                  {tensor<std::int32_t>(6, {1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                  {integers("pads", {1, 1})}});
    EXPECT_EQ(convolution.descriptor->schema->short_name(), "CONVOLUTION_INTEGER");
    EXPECT_THAT(convolution.descriptor->uints("StartPadding"), ElementsAre(0, 1));
    EXPECT_THAT(convolution.descriptor->uints("Strides"), ElementsAre(1, 1));
    EXPECT_THAT(convolution.descriptor->sizes("FilterZeroPointTensor"), ElementsAre(1, 2, 1));
}

}  // namespace
}  // namespace dmlconform::tests::onnx_product_test

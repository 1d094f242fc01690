// Tests of engine/interop/onnx_window: the conversion of poolings and of local response normalisation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interop/onnx_node_tests.h"

namespace dmlconform::tests::onnx_window_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

onnx::TensorProto zeros(std::vector<std::int64_t> dims) {
    std::size_t count = 1;
    for (const std::int64_t size : dims) {
        count *= static_cast<std::size_t>(size);
    }
    return floats(std::move(dims), std::vector<float>(count));
}

TEST(OnnxWindow, PoolingsOfOneDimensionHaveAHeightOfOne) {
    const auto pool = imported({"AveragePool",
                                {zeros({1, 2, 5})},
                                {zeros({1, 2, 3})},
                                {integers("kernel_shape", {2}), integers("strides", {2}), integers("pads", {1, 0}),
                                 integer("count_include_pad", 1)}});
    EXPECT_EQ(pool.descriptor->schema->short_name(), "AVERAGE_POOLING");
    EXPECT_THAT(pool.descriptor->sizes("InputTensor"), ElementsAre(1, 2, 1, 5));
    EXPECT_THAT(pool.descriptor->sizes("OutputTensor"), ElementsAre(1, 2, 1, 3));
    EXPECT_THAT(pool.descriptor->uints("WindowSize"), ElementsAre(1, 2));
    EXPECT_THAT(pool.descriptor->uints("Strides"), ElementsAre(1, 2));
    EXPECT_THAT(pool.descriptor->uints("StartPadding"), ElementsAre(0, 1));
    EXPECT_THAT(pool.descriptor->uints("EndPadding"), ElementsAre(0, 0));
    EXPECT_EQ(pool.descriptor->uint("IncludePadding"), 1u);
}

/// SAME_UPPER puts the odd element of padding at the end, SAME_LOWER at the start. ceil_mode pads up to the end of its
/// last window.
TEST(OnnxWindow, PaddingFollowsFromTheOutput) {
    const auto padding = [](const onnx::AttributeProto& how, std::vector<std::int64_t> out) {
        const auto pool =
            imported({"LpPool",
                      {zeros({1, 1, 4, 7})},
                      {zeros(std::move(out))},
                      {integers("kernel_shape", {2, 3}), integers("strides", {1, 3}), integer("p", 3), how}});
        EXPECT_EQ(pool.descriptor->uint("P"), 3u);
        return std::pair(pool.descriptor->uints("StartPadding"), pool.descriptor->uints("EndPadding"));
    };
    const auto upper = padding(text("auto_pad", "SAME_UPPER"), {1, 1, 4, 3});
    EXPECT_THAT(upper.first, ElementsAre(0, 1));
    EXPECT_THAT(upper.second, ElementsAre(1, 1));
    const auto lower = padding(text("auto_pad", "SAME_LOWER"), {1, 1, 4, 3});
    EXPECT_THAT(lower.first, ElementsAre(1, 1));
    EXPECT_THAT(lower.second, ElementsAre(0, 1));
    const auto ceil = padding(integer("ceil_mode", 1), {1, 1, 3, 3});
    EXPECT_THAT(ceil.first, ElementsAre(0, 0));
    EXPECT_THAT(ceil.second, ElementsAre(0, 2));
    const auto floor = padding(integer("ceil_mode", 0), {1, 1, 3, 2});
    EXPECT_THAT(floor.second, ElementsAre(0, 0));
}

TEST(OnnxWindow, DilationsNeedTheNewerOperator) {
    const std::vector<onnx::AttributeProto> dilated{integers("kernel_shape", {2, 2}), integers("dilations", {2, 1})};
    const auto name = [&](const char* type) {
        return imported({type, {zeros({1, 1, 4, 4})}, {zeros({1, 1, 2, 3})}, dilated}).descriptor->schema->short_name();
    };
    EXPECT_EQ(name("AveragePool"), "AVERAGE_POOLING1");
    EXPECT_EQ(name("LpPool"), "LP_POOLING1");
    EXPECT_EQ(name("MaxPool"), "MAX_POOLING2");
}

TEST(OnnxWindow, MaxPoolHasUnsignedIndices) {
    const auto pool = imported({"MaxPool",
                                {floats({1, 1, 2, 2}, {1, 4, 2, 3})},
                                {floats({1, 1, 1, 1}, {4}), longs({1, 1, 1, 1}, {1})},
                                {integers("kernel_shape", {2, 2})}});
    EXPECT_EQ(pool.descriptor->tensor("OutputIndicesTensor")->data_type, core::DataType::uint64);
}

TEST(OnnxWindow, GlobalPoolingsHaveOneWindow) {
    for (const auto& [type, directml] :
         {std::pair("GlobalAveragePool", "AVERAGE_POOLING"), std::pair("GlobalMaxPool", "MAX_POOLING"),
          std::pair("GlobalLpPool", "LP_POOLING")}) {
        const auto pool = imported({type, {zeros({2, 3, 2, 2, 2, 2})}, {zeros({2, 3, 1, 1, 1, 1})}});
        EXPECT_EQ(pool.descriptor->schema->short_name(), directml);
        EXPECT_THAT(pool.descriptor->sizes("InputTensor"), ElementsAre(2, 3, 1, 16));
        EXPECT_THAT(pool.descriptor->uints("WindowSize"), ElementsAre(1, 16));
    }
}

TEST(OnnxWindow, LrnIsAcrossChannels) {
    const auto lrn = imported({"LRN", {zeros({1, 5, 2, 3, 4})}, {zeros({1, 5, 2, 3, 4})}, {integer("size", 3)}});
    EXPECT_THAT(lrn.descriptor->sizes("InputTensor"), ElementsAre(1, 5, 1, 24));
    EXPECT_EQ(lrn.descriptor->uint("CrossChannel"), 1u);
    EXPECT_EQ(lrn.descriptor->uint("LocalSize"), 3u);
    EXPECT_EQ(lrn.descriptor->get<float>("Alpha"), 0.0001F);
    EXPECT_EQ(lrn.descriptor->get<float>("Beta"), 0.75F);
    EXPECT_EQ(lrn.descriptor->get<float>("Bias"), 1);
}

TEST(OnnxWindow, WhatIsNotTheSameIsLeftOut) {
    const auto x = zeros({1, 1, 4, 4});
    const auto window = integers("kernel_shape", {3, 3});
    EXPECT_THAT(
        reason({"AveragePool",
                {x},
                {zeros({1, 1, 2, 2})},
                {window, integers("strides", {2, 2}), integer("ceil_mode", 1), integer("count_include_pad", 1)}}),
        HasSubstr("what ceil_mode adds"));
    EXPECT_THAT(reason({"MaxPool",
                        {x},
                        {zeros({1, 1, 2, 2}), longs({1, 1, 2, 2}, {0, 0, 0, 0})},
                        {window, integer("storage_order", 1)}}),
                HasSubstr("not column by column"));
    EXPECT_THAT(reason({"MaxPool", {zeros({1, 1})}, {zeros({1, 1})}, {window}}), HasSubstr("two or three"));
    EXPECT_THAT(reason({"MaxPool", {x}, {zeros({1, 1, 2, 2})}, {integers("kernel_shape", {3})}}),
                HasSubstr("not those of the spatial dimensions"));
    EXPECT_THAT(reason({"MaxPool", {x}, {zeros({1, 1, 2, 2})}, {integers("kernel_shape", {-1, 3})}}),
                HasSubstr("not those of the spatial dimensions"));
    EXPECT_THAT(reason({"MaxPool", {x}, {zeros({1, 1, 2, 2})}}), HasSubstr("MAX_POOLING2.window"));
    EXPECT_THAT(reason({"GlobalMaxPool", {x}, {zeros({1, 2, 1, 1})}}), HasSubstr("one element for each"));
    EXPECT_THAT(reason({"LRN", {x}, {x}, {integer("size", 0)}}), HasSubstr("localSize"));
}

}  // namespace
}  // namespace dmlconform::tests::onnx_window_test

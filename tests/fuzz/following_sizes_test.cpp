// Tests that the sizes of the first tensor are enough for a legal case of each operator.
#include "engine/fuzz/following_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/fuzz/shaped_case.h"
#include "engine/operators/catalogue.h"

namespace following_sizes_test {
namespace {

using namespace dmlconform;

/// Sizes that no example has.
const core::Dimensions other_sizes{6, 8, 12, 10};

/// Operators whose first tensor may not have such sizes.
const std::map<std::string, core::Dimensions>& special_sizes() {
    static const std::map<std::string, core::Dimensions> special{
        // All but the last two sizes are 1.
        {"ACTIVATION_HARDMAX", {1, 1, 12, 10}},
        {"ACTIVATION_LOG_SOFTMAX", {1, 1, 12, 10}},
        {"ACTIVATION_SOFTMAX", {1, 1, 12, 10}},
        // Steps, batch size and input size, after a 1.
        {"RNN", {1, 8, 12, 10}},
        {"LSTM", {1, 8, 12, 10}},
        {"GRU", {1, 8, 12, 10}},
        {"MULTIHEAD_ATTENTION", {1, 8, 12, 10}},
        {"MULTIHEAD_ATTENTION1", {1, 8, 12, 10}},
        // 1 or 3 channels.
        {"VALUE_SCALE_2D", {6, 3, 12, 10}},
        // 1 along the axis, which is the last one.
        {"ONE_HOT", {6, 8, 12, 1}},
        // The state of the generator.
        {"RANDOM_GENERATOR", {1, 1, 1, 6}},
        // Channels are a multiple of the block's area.
        {"DEPTH_TO_SPACE", {6, 8, 12, 10}},
        {"DEPTH_TO_SPACE1", {6, 8, 12, 10}},
        // Batches, channels times windows of 2x2, and 11x9 windows.
        {"FOLD", {6, 8, 99}}};
    return special;
}

/// The sizes in the order of the tensors: inputs, then outputs.
std::vector<std::string> sizes_in(const operators::Descriptor& descriptor) {
    std::vector<std::string> sizes;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc != nullptr) {
                sizes.push_back(fmt::format("{}", fmt::join(slot.desc->sizes, "x")));
            }
        }
    }
    return sizes;
}

std::vector<std::string> sizes_for(const char* name, const core::Dimensions& first,
                                   std::vector<std::pair<std::string, std::string>> attributes = {}) {
    fuzz::Shape shape;
    shape.sizes = {{"", first}};
    shape.attributes = std::move(attributes);
    const auto text = fuzz::shaped_case_file(*operators::find_operator(name), shape);
    if (!text) {
        return {text.error().message};
    }
    const cases::Suite suite = cases::read_case_file("shape.json", *text);
    if (suite.cases.size() != 1 || !suite.problems.empty()) {
        return {"unreadable"};
    }
    return sizes_in(*suite.cases.front().descriptor);
}

/// One test for each operator, because making a case takes a tenth of a second.
class FollowingSizesOf : public testing::TestWithParam<std::string> {};

TEST_P(FollowingSizesOf, AreLegal) {
    const std::string& name = GetParam();
    const auto special = special_sizes().find(name);
    const core::Dimensions& sizes = special == special_sizes().end() ? other_sizes : special->second;
    EXPECT_EQ(sizes_for(name.c_str(), sizes).at(0), fmt::format("{}", fmt::join(sizes, "x")));
}

std::vector<std::string> short_names() {
    std::vector<std::string> names;
    for (const std::string& name : operators::operator_names()) {
        names.emplace_back(operators::find_operator(name)->short_name());
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(EachOperator, FollowingSizesOf, testing::ValuesIn(short_names()),
                         [](const auto& info) { return info.param; });

TEST(FollowingSizes, AreWhatAUserWouldChoose) {
    using Sizes = std::vector<std::string>;
    EXPECT_EQ(sizes_for("GEMM", {1, 2, 64, 32}), (Sizes{"1x2x64x32", "1x2x32x32", "1x2x64x32"}));
    EXPECT_EQ(sizes_for("GEMM", {1, 2, 64, 32}, {{"TransA", "TRANSPOSE"}}),
              (Sizes{"1x2x64x32", "1x2x64x64", "1x2x32x64"}));
    EXPECT_EQ(sizes_for("CONVOLUTION", {2, 16, 28, 30}), (Sizes{"2x16x28x30", "16x16x3x3", "2x16x26x28"}));
    EXPECT_EQ(sizes_for("CONVOLUTION", {2, 16, 28, 30}, {{"GroupCount", "4"}, {"Strides", "2"}}),
              (Sizes{"2x16x28x30", "16x4x3x3", "2x16x13x14"}));
    EXPECT_EQ(sizes_for("CONVOLUTION", {2, 16, 28, 1}), (Sizes{"2x16x28x1", "16x16x3x1", "2x16x26x1"}));
    EXPECT_EQ(sizes_for("CONVOLUTION", {2, 16, 28, 30}, {{"Direction", "BACKWARD"}}),
              (Sizes{"2x16x28x30", "16x16x3x3", "2x16x30x32"}));
    EXPECT_EQ(sizes_for("AVERAGE_POOLING", {2, 3, 28, 30}), (Sizes{"2x3x28x30", "2x3x27x29"})) << "no padding";
    EXPECT_EQ(sizes_for("MAX_POOLING_GRAD", {2, 3, 28, 30}), (Sizes{"2x3x28x30", "2x3x27x29", "2x3x28x30"}));
    EXPECT_EQ(sizes_for("AVERAGE_POOLING_GRAD", {2, 3, 27, 29}), (Sizes{"2x3x27x29", "2x3x28x30"}));
    EXPECT_EQ(sizes_for("ONE_HOT", {1, 5, 7, 1}).back(), "1x5x7x10");
    EXPECT_EQ(sizes_for("SLICE_GRAD", {3, 4, 5, 6}), (Sizes{"3x4x5x6", "3x4x5x6"}));
    EXPECT_EQ(sizes_for("REVERSE_SUBSEQUENCES", {3, 4, 5, 6}), (Sizes{"3x4x5x6", "3x4x5x1", "3x4x5x6"}));
    EXPECT_EQ(sizes_for("MULTIHEAD_ATTENTION", {2, 10, 16}), (Sizes{"2x10x16", "2x10x16", "2x10x16", "2x10x16"}));
    EXPECT_EQ(sizes_for("QUANTIZE", {3, 4, 5, 6}), (Sizes{"3x4x5x6", "1x1x1x1", "3x4x5x6"}));
}

}  // namespace
}  // namespace following_sizes_test

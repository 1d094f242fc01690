// Tests of operators::minimum_cost: the bytes that decide the output, and the operations that it takes at least. All
// numbers are counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/operators/rules.h"
#include "engine/operators/window_reach.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::cost_test {
namespace {

using core::DataType;
using operators::Cost;
using operators::Descriptor;
using operators::Offsets;
using operators::WindowReach;

Cost cost_of(const Descriptor& descriptor) {
    const auto rejection = operators::validate(descriptor, core::highest_feature_level);
    EXPECT_FALSE(rejection) << rejection->rule << ": " << rejection->message;
    return operators::minimum_cost(descriptor);
}

/// Over one batch and one channel, with as much padding on each side.
Descriptor convolution(std::uint32_t image, std::uint32_t filter, std::uint32_t output, std::int64_t stride,
                       std::int64_t padding, bool backward = false) {
    return describe("CONVOLUTION",
                    {{"InputTensor", real({1, 1, backward ? output : image, backward ? output : image})},
                     {"FilterTensor", real({1, 1, filter, filter})},
                     {"OutputTensor", real({1, 1, backward ? image : output, backward ? image : output})},
                     {"Mode", 1},
                     {"Direction", backward ? 1 : 0},
                     {"DimensionCount", 2},
                     {"Strides", {stride, stride}},
                     {"Dilations", {1, 1}},
                     {"StartPadding", {padding, padding}},
                     {"EndPadding", {padding, padding}},
                     {"OutputPadding", {0, 0}},
                     {"GroupCount", 1}});
}

TEST(Cost, ConvolutionsReadWhatTheFilterMeets) {
    EXPECT_EQ(cost_of(convolution(9, 1, 5, 2, 0)).bytes, 4 * (25 + 1 + 25)) << "every second element";
    EXPECT_EQ(cost_of(convolution(9, 1, 5, 2, 0)).operations, 2 * 25);
    EXPECT_EQ(cost_of(convolution(4, 3, 4, 1, 1)).bytes, 4 * (16 + 9 + 16));
    // Along a dimension, the positions have 2, 3, 3 and 2 elements of the filter inside.
    EXPECT_EQ(cost_of(convolution(4, 3, 4, 1, 1)).operations, 2 * 10 * 10) << "none for padding";
    EXPECT_EQ(cost_of(convolution(1, 3, 1, 1, 1)).bytes, 4 * (1 + 1 + 1)) << "the rest of the filter is on padding";
    // Backward, the first and the last of 3 inputs write to 1 of 3 outputs each, and the second one to 3.
    EXPECT_EQ(cost_of(convolution(3, 3, 3, 2, 2, true)).bytes, 4 * (9 + 9 + 9));
    EXPECT_EQ(cost_of(convolution(3, 3, 3, 2, 2, true)).operations, 2 * 5 * 5);
}

TEST(Cost, PoolingsReadWhatIsInAWindow) {
    const Descriptor pooling = describe("MAX_POOLING", {{"InputTensor", real({1, 2, 9, 9})},
                                                        {"OutputTensor", real({1, 2, 3, 3})},
                                                        {"DimensionCount", 2},
                                                        {"Strides", {4, 4}},
                                                        {"WindowSize", {1, 1}},
                                                        {"StartPadding", {0, 0}},
                                                        {"EndPadding", {0, 0}}});
    EXPECT_EQ(cost_of(pooling).bytes, 2 * 4 * (9 + 9));
    EXPECT_EQ(cost_of(pooling).operations, 2 * 9);
    const Descriptor unfold = describe("UNFOLD", {{"InputTensor", real({1, 1, 9, 9})},
                                                  {"OutputTensor", real({1, 1, 9})},
                                                  {"DimensionCount", 2},
                                                  {"WindowSizes", {1, 1}},
                                                  {"Strides", {4, 4}},
                                                  {"Dilations", {1, 1}},
                                                  {"StartPadding", {0, 0}},
                                                  {"EndPadding", {0, 0}}});
    EXPECT_EQ(cost_of(unfold).bytes, 4 * (9 + 9));
    EXPECT_EQ(cost_of(unfold).operations, 0);
}

TEST(Cost, ResamplingReadsWhatIsNextToAnOutput) {
    const auto floats = [](std::vector<float> values) { return operators::FieldValue(std::move(values)); };
    const auto resample = [floats](int mode, std::int64_t antialiased) {
        return describe("RESAMPLE3", {{"InputTensor", real({1, 2, 1024, 1024})},
                                      {"OutputTensor", real({1, 2, 8, 8})},
                                      {"InterpolationMode", mode},
                                      {"RoundingDirection", 0},
                                      {"DimensionCount", 4},
                                      {"Scales", floats({1, 1, 1 / 128.F, 1 / 128.F})},
                                      {"InputPixelOffsets", floats({0.5, 0.5, 0.5, 0.5})},
                                      {"OutputPixelOffsets", floats({-0.5, -0.5, -0.5, -0.5})},
                                      {"Antialiased", antialiased}});
    };
    EXPECT_EQ(cost_of(resample(0, 0)).bytes, 2 * 4 * (64 + 64));
    EXPECT_EQ(cost_of(resample(0, 0)).operations, 0) << "the nearest one is only moved";
    EXPECT_EQ(cost_of(resample(1, 0)).bytes, 2 * 4 * (256 + 64));
    EXPECT_EQ(cost_of(resample(1, 0)).operations, 2 * 64);
    EXPECT_EQ(cost_of(resample(1, 1)).bytes, 2 * 4 * (1024 * 1024 + 64));
}

TEST(Cost, IdentitiesOnlyMove) {
    const auto identity = [](std::string_view op, std::vector<Setting> more) {
        more.insert(more.end(), {{"InputTensor", real({2, 3})}, {"OutputTensor", real({2, 3})}});
        return cost_of(describe(op, more)).operations;
    };
    EXPECT_EQ(identity("ACTIVATION_IDENTITY", {}), 0);
    EXPECT_EQ(identity("ELEMENT_WISE_IDENTITY", {}), 0);
    const auto scale_bias = [](float scale, float bias) {
        return operators::FieldValue(operators::ScaleBias{.scale = scale, .bias = bias});
    };
    EXPECT_EQ(identity("ELEMENT_WISE_IDENTITY", {{"ScaleBias", scale_bias(1, 0)}}), 0);
    EXPECT_EQ(identity("ELEMENT_WISE_IDENTITY", {{"ScaleBias", scale_bias(2, 0)}}), 6);
    EXPECT_EQ(identity("ELEMENT_WISE_IDENTITY", {{"ScaleBias", scale_bias(2, 1)}}), 12);
}

TEST(Cost, RepeatedElementsAreReadOnce) {
    const Descriptor gather = describe("GATHER", {{"InputTensor", real({1, 1, 2, 4})},
                                                  {"IndicesTensor", tensor(DataType::uint32, {1, 1, 1, 9})},
                                                  {"OutputTensor", real({1, 1, 9, 4})},
                                                  {"Axis", 2},
                                                  {"IndexDimensions", 1}});
    EXPECT_EQ(cost_of(gather).bytes, 4 * (8 + 9 + 36));
}

/// What is between two nodes need not be in memory.
TEST(Cost, GraphsMoveTheirInputsAndOutputs) {
    const TestNode first{"first", convolution(5, 3, 3, 1, 0), {"x", "w", ""}, {"t"}};
    const auto face = graph_of({first, unary("second", "ACTIVATION_RELU", real({1, 1, 3, 3}), "t", "y")}, {"y"});
    EXPECT_EQ(cost_of(*face).bytes, 4 * (25 + 9 + 9));
    EXPECT_EQ(cost_of(*face).operations, 2 * 81 + 9);
    // Two readers, each of half of the input.
    const auto slice = [](std::string name, std::int64_t offset, std::string to) {
        return TestNode{std::move(name),
                        describe("SLICE1", {{"InputTensor", real({1, 8})},
                                            {"OutputTensor", real({1, 4})},
                                            {"DimensionCount", 2},
                                            {"InputWindowOffsets", {0, offset}},
                                            {"InputWindowSizes", {1, 4}},
                                            {"InputWindowStrides", {1, 1}}}),
                        {"x"},
                        {std::move(to)}};
    };
    EXPECT_EQ(cost_of(*graph_of({slice("a", 0, "y")}, {"y"})).bytes, 4 * (4 + 4));
    EXPECT_EQ(cost_of(*graph_of({slice("a", 0, "y"), slice("b", 4, "z")}, {"y", "z"})).bytes, 4 * (8 + 8));
    const auto thrice = graph_of({slice("a", 0, "y"), slice("b", 4, "z"), slice("c", 2, "v")}, {"y", "z", "v"});
    EXPECT_EQ(cost_of(*thrice).bytes, 4 * (8 + 12)) << "no element counts twice";
}

/// Compares with a walk over all positions and elements of the window.
void expect_reach(const Offsets& positions, const Offsets& window, std::uint64_t padding, std::uint64_t size) {
    std::set<std::uint64_t> elements;
    std::set<std::uint64_t> seen_positions;
    std::set<std::uint64_t> seen_window;
    double pairs = 0;
    for (std::uint64_t p = 0; p < positions.count; ++p) {
        for (std::uint64_t w = 0; w < window.count; ++w) {
            const std::uint64_t at = p * positions.step + w * window.step;
            if (at >= padding && at < padding + size) {
                ++pairs;
                elements.insert(at);
                seen_positions.insert(p);
                seen_window.insert(w);
            }
        }
    }
    const WindowReach reach = operators::window_reach(positions, window, padding, size);
    EXPECT_EQ(reach.pairs, pairs);
    EXPECT_EQ(reach.elements, static_cast<double>(elements.size()));
    EXPECT_EQ(reach.positions, static_cast<double>(seen_positions.size()));
    EXPECT_EQ(reach.window, static_cast<double>(seen_window.size()));
}

TEST(WindowReach, OfAllSmallWindows) {
    for (std::uint64_t code = 0; code < 5 * 4 * 5 * 4 * 4 * 7; ++code) {
        std::uint64_t rest = code;
        const auto next = [&rest](std::uint64_t count) {
            const std::uint64_t digit = rest % count;
            rest /= count;
            return digit;
        };
        const Offsets positions{next(5) + 1, next(4) + 1};
        const Offsets window{next(5) + 1, next(4) + 1};
        const std::uint64_t padding = next(4);
        expect_reach(positions, window, padding, next(7) + 1);
        if (::testing::Test::HasFailure()) {
            FAIL() << "of " << positions.count << " steps of " << positions.step << ", window of " << window.count
                   << " steps of " << window.step << ", padding " << padding;
        }
    }
}

TEST(WindowReach, OfTheLargestNumbers) {
    constexpr std::uint64_t most = 0xFFFFFFFF;
    EXPECT_EQ(operators::window_reach({3, most}, {3, most}, most, 1).pairs, 2) << "1 + 0 and 0 + 1";
    EXPECT_EQ(operators::window_reach({most, 1}, {2, most}, most, 2).pairs, 2) << "0 + most and 1 + most";
    // Neither takes minutes, nor gigabytes.
    EXPECT_EQ(operators::window_reach({most, 1}, {most, 1}, 0, most).pairs, static_cast<double>(most) * most);
}

}  // namespace
}  // namespace dmlconform::tests::cost_test

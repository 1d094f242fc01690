// Tests of QUANTIZED_LINEAR_CONVOLUTION on the D3D12 engine: every mix of types, optional tensors, shapes and layouts.
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/d3d12/quantized_convolutions.h"

namespace dmlconform::tests::quantized_linear_convolution_test {
namespace {

using core::DataType;
using operators::Descriptor;
using quantized::convolution;
using quantized::expect_like_reference;
using quantized::full_range;
using quantized::plain_bytes;
using quantized::plan_of;
using quantized::random_extent;
using quantized::random_inputs;
using quantized::Shape;

using ConvolutionOnD3d12 = D3d12Test;

std::string shader_of(const Descriptor& descriptor) {
    return std::string(plan_of(descriptor).dispatches[0].shader.shader);
}

bool is_tiled(const Descriptor& descriptor) {
    return shader_of(descriptor) == "product_tiled" || shader_of(descriptor) == "product_parted";
}

TEST_F(ConvolutionOnD3d12, RandomShapes) {
    Random random(1);
    for (int turn = 0; turn < 400 && !HasFailure(); ++turn) {
        Shape shape;
        shape.batch = random.between(1, 2);
        shape.groups = random.between(1, 3);
        shape.group_inputs = random.between(1, 4);
        shape.group_outputs = random.between(1, 4);
        shape.height = random.chance(3) ? Extent{} : random_extent(random, 6);
        shape.width = random_extent(random, 9);
        expect_like_reference(engine(), random, convolution(random, shape, random.chance(2)));
    }
}

TEST_F(ConvolutionOnD3d12, RandomShapesInTiles) {
    Random random(2);
    int tiled = 0;
    for (int turn = 0; turn < 60 && !HasFailure(); ++turn) {
        Shape shape;
        shape.batch = random.between(1, 2);
        shape.groups = random.between(1, 2);
        shape.group_inputs = random.between(5, 40);
        shape.group_outputs = random.between(8, 80);
        shape.height = random_extent(random, 12);
        shape.width = random_extent(random, 12);
        const Descriptor descriptor = convolution(random, shape, random.chance(2));
        tiled += is_tiled(descriptor) ? 1 : 0;
        expect_like_reference(engine(), random, descriptor);
    }
    EXPECT_GT(tiled, 10);
}

/// Windows and matrices in small tiles: operands of whole and partial 32-bit words, an incomplete last tile, groups,
/// batches, and types of any sign.
TEST_F(ConvolutionOnD3d12, SmallTiles) {
    struct Given {
        std::uint32_t batch;
        std::uint32_t groups;
        std::uint32_t inputs;
        std::uint32_t outputs;
        std::uint32_t filter;
        std::uint32_t input;
        std::uint32_t padding;
        std::uint32_t stride;
    };
    const Given all[] = {{1, 1, 64, 40, 1, 20, 0, 1}, {1, 1, 96, 33, 1, 19, 0, 1}, {2, 1, 64, 40, 1, 17, 0, 1},
                         {1, 2, 64, 17, 1, 20, 0, 1}, {2, 2, 64, 17, 1, 12, 0, 1}, {1, 1, 64, 40, 1, 21, 0, 2},
                         {1, 1, 64, 40, 1, 18, 1, 1}, {1, 1, 32, 64, 3, 14, 1, 1}, {2, 1, 32, 20, 3, 13, 1, 2},
                         {1, 2, 32, 37, 3, 12, 0, 1}, {1, 1, 64, 33, 3, 11, 1, 1}};
    for (const bool packed : {true, false}) {
        for (const Given& given : all) {
            SCOPED_TRACE(testing::Message() << given.inputs << " to " << given.outputs << ", filter " << given.filter);
            Random random(given.outputs + given.input);
            Shape shape;
            shape.batch = given.batch;
            shape.groups = given.groups;
            shape.group_inputs = given.inputs;
            shape.group_outputs = given.outputs;
            for (auto* extent : {&shape.height, &shape.width}) {
                extent->filter = given.filter;
                extent->input = given.input;
                extent->start = given.padding;
                extent->end = given.padding;
                extent->stride = given.stride;
            }
            const Descriptor descriptor = convolution(random, shape, packed);
            EXPECT_EQ(shader_of(descriptor), "product_parted");
            const bool is_matrix =
                given.filter == 1 && given.padding == 0 && given.stride == 1 && (given.batch == 1 || given.input > 16);
            if (packed && given.groups == 1) {
                EXPECT_EQ(plan_of(descriptor).dispatches[0].shader.key().ends_with("WINDOW=0"), is_matrix);
            }
            expect_like_reference(engine(), random, descriptor);
        }
    }
}

/// The largest number of products of 255 * 255 that a thread of a small tile may sum.
TEST_F(ConvolutionOnD3d12, SmallTilesOfTheLargestSums) {
    Shape shape;
    shape.group_inputs = 1024;
    shape.group_outputs = 64;
    shape.width.input = 4000;
    Random random(3);
    const Descriptor descriptor = plain_bytes(convolution(random, shape, true), nullptr);
    const auto plan = plan_of(descriptor);
    EXPECT_EQ(plan.dispatches[0].shader.shader, "product_parted");
    EXPECT_EQ(plan.dispatches.size(), 1u);
    tests::expect_like_reference(engine(), descriptor, full_range(descriptor, 300.0 * 1024, {}));
}

/// Sums that 24 and 32 bits cannot hold: all products are 255 * 255.
TEST_F(ConvolutionOnD3d12, ManyTaps) {
    for (const std::uint32_t channels : {255u, 256u, 257u, 511u, 1024u, 8192u, 8193u, 33026u, 70000u}) {
        for (const std::uint32_t width : {5u, 160u}) {
            Shape shape;
            shape.group_inputs = channels;
            shape.group_outputs = 8;
            shape.width.input = channels > 1000 ? std::min(width, 16u) : width;
            Random random(channels);
            const Descriptor any = convolution(random, shape, true);
            const Descriptor descriptor = plain_bytes(any, nullptr);
            EXPECT_EQ(is_tiled(descriptor), width > 5 && (channels < 1000 || channels > 8000));
            tests::expect_like_reference(engine(), descriptor, full_range(descriptor, 300.0 * channels, {}));
        }
    }
}

/// Sums whose lower 32 bits are a small number, which FP32 would represent exactly. The output is half of its range.
TEST_F(ConvolutionOnD3d12, SumsAroundTwoToTheThirtyTwo) {
    Shape shape;
    shape.group_inputs = 34000;
    shape.group_outputs = 4;
    shape.width.input = 3;
    Random random(6);
    const Descriptor any = convolution(random, shape, true);
    core::Dimensions bias_sizes(any.sizes("InputTensor").size(), 1);
    bias_sizes[1] = shape.group_outputs;
    const core::TensorDesc bias = tensor(DataType::int32, bias_sizes);
    const Descriptor descriptor = plain_bytes(any, &bias);
    const std::int64_t products = std::int64_t{34000} * 255 * 255;
    const auto missing = static_cast<std::int32_t>((std::int64_t{1} << 32) - products);
    const std::vector<std::int32_t> biases{missing, missing + 5, missing - 5, missing - (1 << 24)};
    tests::expect_like_reference(engine(), descriptor, full_range(descriptor, std::ldexp(1.0, 25), biases));
}

/// One filter element more along a row than tiles have bits for: such windows have no tiles.
TEST_F(ConvolutionOnD3d12, LongWindows) {
    Random random(7);
    for (const std::uint32_t filter : {32u, 33u}) {
        Shape shape;
        shape.group_inputs = 8;
        shape.group_outputs = 16;
        shape.width.filter = filter;
        shape.width.input = filter + 79;
        const Descriptor descriptor = convolution(random, shape, random.chance(2));
        EXPECT_EQ(is_tiled(descriptor), filter == 32);
        expect_like_reference(engine(), random, descriptor);
    }
}

/// Rows of the output, and whole images, that begin and end within a 32-bit word, with and without slices.
TEST_F(ConvolutionOnD3d12, SlicesOfOddRows) {
    Random random(8);
    for (const std::uint32_t channels : {20u, 1100u}) {
        Shape shape;
        shape.batch = 3;
        shape.groups = 2;
        shape.group_inputs = channels;
        shape.group_outputs = 5;
        shape.height.input = 3;
        shape.width.input = 3;
        for (const bool packed : {true, false}) {
            const Descriptor descriptor = convolution(random, shape, packed);
            EXPECT_EQ(plan_of(descriptor).dispatches.size(), channels > 1000 ? 2u : 1u);
            expect_like_reference(engine(), random, descriptor);
        }
    }
}

TEST_F(ConvolutionOnD3d12, BiasAtTheEndsOfItsRange) {
    Random random(4);
    Shape shape;
    shape.group_inputs = 3;
    shape.group_outputs = 4;
    shape.width.input = 5;
    const Descriptor descriptor = with(convolution(random, shape, true), {{"BiasTensor", nullptr}});
    const core::Dimensions bias_sizes =
        descriptor.sizes("InputTensor").size() == 4 ? core::Dimensions{1, 4, 1, 1} : core::Dimensions{1, 4, 1};
    const Descriptor biased = with(descriptor, {{"BiasTensor", tensor(DataType::int32, bias_sizes)}});
    auto inputs = random_inputs(random, biased);
    inputs[6] =
        tensor_of<std::int32_t>(*biased.tensor("BiasTensor"), {2147483647, -2147483647 - 1, 2147483000, -2147483000});
    // Prevents that all sums saturate.
    inputs[7] = drawn(*biased.tensor("OutputScaleTensor"), [] { return 3e7; });
    tests::expect_like_reference(engine(), biased, inputs);
}

TEST_F(ConvolutionOnD3d12, PaddingThatThirtyTwoBitsCannotCountIsUnsupported) {
    Random random(5);
    Shape shape;
    shape.width.input = 10;
    const Descriptor descriptor =
        with(convolution(random, shape, true),
             {{"StartPadding", {0, 0}}, {"EndPadding", {0, 4294967295}}, {"Strides", {1, 2147483650}}});
    core::Dimensions sizes = descriptor.sizes("OutputTensor");
    sizes.back() = 3;
    const Descriptor padded =
        with(descriptor, {{"OutputTensor", tensor(descriptor.tensor("OutputTensor")->data_type, sizes)}});
    ASSERT_FALSE(operators::validate(padded, core::highest_feature_level));
    ASSERT_TRUE(engine().unsupported(padded));
}

}  // namespace
}  // namespace dmlconform::tests::quantized_linear_convolution_test

// Tests of QUANTIZED_LINEAR_CONVOLUTION on the D3D12 engine if each group has one input channel: tiles, and the shader
// for convolutions that have none.
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "engine/d3d12/product/quantized_depthwise_tiles.h"
#include "shaders/product/quantized_depthwise_parameters.hlsli"
#include "tests/d3d12/quantized_convolutions.h"

namespace dmlconform::tests::quantized_depthwise_convolution_test {
namespace {

using core::DataType;
using operators::Descriptor;
using quantized::convolution;
using quantized::full_range;
using quantized::plain_bytes;
using quantized::random_inputs;
using quantized::Shape;

using DepthwiseOnD3d12 = D3d12Test;

constexpr std::string_view in_tiles = "quantized_depthwise_tiled";
constexpr std::string_view not_in_tiles = "quantized_depthwise_convolution";

std::string_view shader_of(const Descriptor& descriptor) {
    return quantized::plan_of(descriptor).dispatches[0].shader.shader;
}

std::optional<d3d12::DepthwiseTile> tile_of(const Descriptor& descriptor) {
    return d3d12::depthwise_tile(d3d12::QuantizedConvolution(descriptor));
}

/// Channels of this size, without padding.
Shape plane(std::uint32_t channels, const Extent& height, const Extent& width) {
    Shape shape;
    shape.groups = channels;
    shape.height = height;
    shape.width = width;
    return shape;
}

/// A dimension whose windows have `count` positions.
Extent extent_of(std::uint32_t count, std::uint32_t filter, std::uint32_t stride = 1, std::uint32_t dilation = 1) {
    Extent extent{.filter = filter, .stride = stride, .dilation = dilation};
    extent.input = (count - 1) * stride + extent.reach();
    return extent;
}

Extent random_extent(Random& random, std::uint32_t most) {
    Extent extent = random_windows(random);
    extent.filter = random.between(1, 6);
    extent.input = random.between(extent.reach(), most + extent.reach());
    return extent;
}

/// Keeps most tensors packed. Tensors that shaders read element by element get any layout, and rows of the input may
/// have gaps.
Descriptor with_gaps(Random& random, const Descriptor& packed) {
    const auto spread = [&](const char* field) {
        return random_input(random, packed.tensor(field)->data_type, packed.sizes(field));
    };
    Descriptor result = with(packed, {{"FilterTensor", spread("FilterTensor")}});
    if (packed.tensor("BiasTensor") != nullptr) {
        result = with(result, {{"BiasTensor", spread("BiasTensor")}});
    }
    const core::TensorDesc& input = *packed.tensor("InputTensor");
    core::Dimensions strides(input.sizes.size(), 1);
    for (std::size_t d = strides.size() - 1; d > 0; --d) {
        strides[d - 1] = strides[d] * input.sizes[d] + random.between(0, 5);
    }
    return with(result, {{"InputTensor", tensor(input.data_type, input.sizes, strides)}});
}

TEST_F(DepthwiseOnD3d12, RandomShapes) {
    Random random(1);
    int tiled = 0;
    int others = 0;
    for (int turn = 0; turn < 300 && !HasFailure(); ++turn) {
        Shape shape;
        shape.batch = random.between(1, 3);
        shape.groups = random.between(1, 40);
        shape.group_outputs = random.between(1, 2);
        shape.height = random.chance(4) ? Extent{} : random_extent(random, 20);
        shape.width = random_extent(random, random.chance(4) ? 200 : 20);
        Descriptor descriptor = convolution(random, shape, !random.chance(4));
        if (core::is_packed(*descriptor.tensor("OutputTensor"))) {
            descriptor = with_gaps(random, descriptor);
        }
        ++(shader_of(descriptor) == in_tiles ? tiled : others);
        quantized::expect_like_reference(engine(), random, descriptor);
    }
    EXPECT_GT(tiled, 100);
    EXPECT_GT(others, 50);
}

/// Several tiles in each direction, of which the last is smaller; row lengths that are multiples of 32-bit words, and
/// others.
TEST_F(DepthwiseOnD3d12, ManyTiles) {
    Random random(2);
    for (const std::uint32_t stride : {1u, 2u}) {
        for (const std::uint32_t width : {112u, 61u, 300u}) {
            for (const std::uint32_t dilation : {1u, 3u}) {
                Shape shape = plane(3, extent_of(61, 3, stride, dilation), extent_of(width, 3, stride, dilation));
                shape.batch = 2;
                for (Extent* extent : {&shape.height, &shape.width}) {
                    extent->start = 1;
                    --extent->input;
                }
                const Descriptor descriptor = convolution(random, shape, true);
                EXPECT_EQ(shader_of(descriptor), in_tiles);
                quantized::expect_like_reference(engine(), random, descriptor);
            }
        }
    }
}

/// A tile covers several channels, and the last tile fewer.
TEST_F(DepthwiseOnD3d12, ChannelsShareTiles) {
    Random random(3);
    for (const std::uint32_t size : {1u, 7u, 14u}) {
        for (const std::uint32_t channels : {1u, 31u, 67u}) {
            Shape shape = plane(channels, extent_of(size, 3), extent_of(size, 3));
            shape.batch = 2;
            shape.group_outputs = channels == 31 ? 3 : 1;
            const Descriptor descriptor = convolution(random, shape, true);
            EXPECT_EQ(tile_of(descriptor)->channels > 1, channels > 1);
            quantized::expect_like_reference(engine(), random, descriptor);
        }
    }
}

/// Windows that are small enough for threads to iterate over, and larger ones.
TEST_F(DepthwiseOnD3d12, LargeWindows) {
    Random random(4);
    for (const std::uint32_t filter : {1u, 3u, 16u, 17u, 90u, 91u}) {
        Shape shape = plane(3, extent_of(2, filter), extent_of(5, filter));
        shape.batch = 2;
        shape.group_outputs = 2;
        shape.height.start = 1;
        shape.width.end = 1;
        for (const bool packed : {true, false}) {
            const Descriptor descriptor = convolution(random, shape, packed);
            const bool is_tiled = packed && filter <= 16;
            EXPECT_EQ(shader_of(descriptor), is_tiled ? in_tiles : filter <= 90 ? not_in_tiles : "product_plain");
            quantized::expect_like_reference(engine(), random, descriptor);
        }
    }
}

/// A tile fits a thread group and its memory. Rows that end within a word are not split, and several channels share a
/// tile only if it covers each of them.
TEST(DepthwiseTiles, FitThreadGroups) {
    constexpr std::uint64_t threads = 256;
    Random random(8);
    int tiled = 0;
    for (int turn = 0; turn < 4000 && !HasFailure(); ++turn) {
        const auto extent = [&] {
            const std::uint32_t most = random.chance(2) ? 8 : 300;
            return extent_of(random.between(1, most), random.between(1, random.chance(2) ? 3 : 16),
                             random.between(1, 2), random.between(1, 8));
        };
        const Extent height = extent();
        const Extent width = extent();
        const std::uint32_t channels = random.between(1, 70);
        const auto tile = tile_of(convolution(random, plane(channels, height, width), true));
        if (!tile) {
            continue;
        }
        SCOPED_TRACE(testing::Message() << channels << " channels of " << height.output() << " by " << width.output()
                                        << ", filters of " << height.filter << " by " << width.filter);
        ++tiled;
        const std::uint64_t fours = (width.output() + 3) / 4;
        EXPECT_LE(tile->channels * height.filter * tile->row_taps, DEPTHWISE_TAP_FOURS);
        EXPECT_LE(tile->channels, DEPTHWISE_CHANNELS);
        EXPECT_LE(tile->threads(), threads);
        EXPECT_LE(tile->segments(), threads);
        EXPECT_TRUE(width.output() % 4 == 0 || tile->fours == fours);
        EXPECT_TRUE(tile->channels == 1 || (tile->rows >= height.output() && tile->fours >= fours));
    }
    EXPECT_GT(tiled, 2000);
}

/// Other reasons why a convolution has no tiles.
TEST_F(DepthwiseOnD3d12, OthersHaveNoTiles) {
    Random random(5);
    const auto shader = [&](const Extent& height, const Extent& width) {
        const Descriptor descriptor = convolution(random, plane(2, height, width), true);
        quantized::expect_like_reference(engine(), random, descriptor);
        return shader_of(descriptor);
    };
    EXPECT_EQ(shader(extent_of(9, 3), extent_of(9, 3, 2)), in_tiles);
    EXPECT_EQ(shader(extent_of(9, 3), extent_of(9, 3, 3)), not_in_tiles);
    EXPECT_EQ(shader(extent_of(9, 3, 3), extent_of(9, 3)), in_tiles);
    EXPECT_EQ(shader(extent_of(9, 3), extent_of(9, 3, 1, 8)), in_tiles);
    EXPECT_EQ(shader(extent_of(9, 3), extent_of(9, 3, 1, 9)), not_in_tiles);
    // Rows of which a tile needs only a few, so that it would read many unused ones.
    EXPECT_EQ(shader(extent_of(20, 2, 1, 4), extent_of(64, 1)), in_tiles);
    EXPECT_EQ(shader(extent_of(20, 2, 1, 40), extent_of(64, 1)), not_in_tiles);
    // Rows that are too long for a tile; some are split.
    EXPECT_EQ(shader(extent_of(2, 3), extent_of(1200, 3)), in_tiles);
    EXPECT_EQ(shader(extent_of(2, 3), extent_of(1201, 3)), not_in_tiles);
}

/// 256 products of the largest numbers, with biases that make sums inexact in FP32. The outputs are about half of their
/// range.
TEST_F(DepthwiseOnD3d12, LargeSumsAndBiases) {
    Random random(6);
    constexpr std::int64_t sum = std::int64_t{256} * 255 * 255;
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    const Descriptor any = convolution(random, plane(6, extent_of(2, 16), extent_of(4, 16)), true);
    const core::TensorDesc bias = tensor(DataType::int32, {1, 6, 1, 1});
    const Descriptor descriptor =
        plain_bytes(with(any, {{"FilterScaleTensor", tensor(DataType::float32, {1, 1, 1, 1})}}), &bias);
    ASSERT_EQ(shader_of(descriptor), in_tiles);
    for (const std::int64_t wanted : {std::int64_t{127}, std::int64_t{1} << 24, largest}) {
        // Biases around a number that is midway between two outputs, if outputs are that far apart.
        const double scale = static_cast<double>(wanted) / 127.5;
        std::vector<std::int32_t> biases;
        for (const std::int64_t beside : {-2, -1, 0, 1, 2, -255}) {
            biases.push_back(static_cast<std::int32_t>(std::min(wanted - sum + beside, largest)));
        }
        tests::expect_like_reference(engine(), descriptor, full_range(descriptor, scale, biases));
    }
}

/// Such multipliers are illegal, but have a defined result: see requantise in the reference.
TEST_F(DepthwiseOnD3d12, InfiniteAndMissingMultipliers) {
    Random random(7);
    const Descriptor descriptor = convolution(random, plane(2, extent_of(3, 3), extent_of(4, 3)), true);
    auto inputs = random_inputs(random, descriptor);
    for (const double scale : {0.0, 1e-40, static_cast<double>(std::numeric_limits<float>::infinity())}) {
        inputs[7] = drawn(*descriptor.tensor("OutputScaleTensor"), [&] { return scale; });
        tests::expect_like_reference(engine(), descriptor, inputs);
    }
}

}  // namespace
}  // namespace dmlconform::tests::quantized_depthwise_convolution_test

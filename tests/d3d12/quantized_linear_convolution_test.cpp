// QUANTIZED_LINEAR_CONVOLUTION on the D3D12 engine: every mix of types, optional tensors, shapes and layouts.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/extent.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::quantized_linear_convolution_test {
namespace {

using core::DataType;
using operators::Descriptor;

using ConvolutionOnD3d12 = D3d12Test;

struct Shape {
    std::uint32_t batch = 1;
    std::uint32_t groups = 1;
    std::uint32_t group_inputs = 1;
    std::uint32_t group_outputs = 1;
    Extent height;
    Extent width;
};

Extent random_extent(Random& random, std::uint32_t most) {
    Extent extent = random_windows(random);
    extent.input = random.between(extent.reach(), most + extent.reach());
    return extent;
}

DataType random_byte(Random& random) {
    return random.chance(2) ? DataType::int8 : DataType::uint8;
}

/// A tensor of one element, or of one for each channel, of a rank that holds them.
core::TensorDesc random_parameter(Random& random, DataType type, std::uint32_t channels, bool per_channel) {
    if (per_channel && channels > 1) {
        return random_input(random, type, {1, channels, 1, 1});
    }
    return tensor(type, core::Dimensions(random.between(1, 4), 1));
}

Descriptor convolution(Random& random, const Shape& shape, bool packed) {
    const std::uint32_t channels = shape.groups * shape.group_outputs;
    const Extent& tall = shape.height;
    const bool has_height =
        tall.input != 1 || tall.output() != 1 || tall.start != 0 || tall.end != 0 || random.chance(2);
    const auto sizes = [&](std::uint32_t outer, std::uint32_t inner, std::uint32_t height, std::uint32_t width) {
        return has_height ? core::Dimensions{outer, inner, height, width} : core::Dimensions{outer, inner, width};
    };
    const auto layout = [&](DataType type, const core::Dimensions& dimensions) {
        return packed ? tensor(type, dimensions) : random_input(random, type, dimensions);
    };
    const DataType input = random_byte(random);
    const DataType filter = random_byte(random);
    const DataType output = random_byte(random);
    const core::Dimensions output_sizes = sizes(shape.batch, channels, shape.height.output(), shape.width.output());
    std::vector<Setting> settings{
        {"InputTensor",
         layout(input, sizes(shape.batch, shape.groups * shape.group_inputs, shape.height.input, shape.width.input))},
        {"InputScaleTensor", random_parameter(random, DataType::float32, channels, false)},
        {"FilterTensor", layout(filter, sizes(channels, shape.group_inputs, shape.height.filter, shape.width.filter))},
        {"FilterScaleTensor", random_parameter(random, DataType::float32, channels, random.chance(2))},
        {"OutputScaleTensor", random_parameter(random, DataType::float32, channels, false)},
        {"OutputTensor", packed ? tensor(output, output_sizes) : random_output(random, output, output_sizes)},
        {"DimensionCount", 2},
        {"Strides", {shape.height.stride, shape.width.stride}},
        {"Dilations", {shape.height.dilation, shape.width.dilation}},
        {"StartPadding", {shape.height.start, shape.width.start}},
        {"EndPadding", {shape.height.end, shape.width.end}},
        {"GroupCount", shape.groups}};
    if (!random.chance(3)) {
        settings.emplace_back("InputZeroPointTensor", random_parameter(random, input, channels, false));
    }
    if (!random.chance(3)) {
        settings.emplace_back("FilterZeroPointTensor", random_parameter(random, filter, channels, random.chance(2)));
    }
    if (!random.chance(3)) {
        settings.emplace_back("OutputZeroPointTensor", random_parameter(random, output, channels, false));
    }
    if (!random.chance(3)) {
        settings.emplace_back("BiasTensor", layout(DataType::int32, has_height ? core::Dimensions{1, channels, 1, 1}
                                                                               : core::Dimensions{1, channels, 1}));
    }
    return describe("QUANTIZED_LINEAR_CONVOLUTION", settings);
}

/// Scales that spread the sums of so many taps over the output's range.
std::vector<core::Tensor> random_inputs(Random& random, const Descriptor& descriptor) {
    const double taps = static_cast<double>(*core::element_count(descriptor.tensor("FilterTensor")->sizes)) /
                        descriptor.tensor("FilterTensor")->sizes[0];
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.name == "OutputScaleTensor") {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(20, 80) * std::sqrt(taps); }));
        } else if (slot.desc->data_type == DataType::float32) {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(0.3, 1.5); }));
        } else if (slot.desc->data_type == DataType::int32) {
            inputs.push_back(drawn(*slot.desc, [&] { return std::floor(random.between_reals(-3000, 3000)); }));
        } else {
            inputs.push_back(random_bits(random, *slot.desc));
        }
    }
    return inputs;
}

void expect_like_reference(Engine& engine, Random& random, const Descriptor& descriptor) {
    tests::expect_like_reference(engine, descriptor, random_inputs(random, descriptor));
}

d3d12::DispatchPlan plan_of(const Descriptor& descriptor) {
    return d3d12::find_binding("QUANTIZED_LINEAR_CONVOLUTION")->plan(descriptor);
}

bool is_tiled(const Descriptor& descriptor) {
    return plan_of(descriptor).dispatches[0].shader.shader == "product_tiled";
}

/// The types and sizes of `any`, but packed, without zero points, and of UINT8.
Descriptor plain_bytes(const Descriptor& any, const core::TensorDesc* bias) {
    const auto packed = [&](const char* field) { return tensor(DataType::uint8, any.tensor(field)->sizes); };
    const Descriptor bytes = with(any, {{"InputTensor", packed("InputTensor")},
                                        {"FilterTensor", packed("FilterTensor")},
                                        {"OutputTensor", packed("OutputTensor")},
                                        {"InputZeroPointTensor", nullptr},
                                        {"FilterZeroPointTensor", nullptr},
                                        {"OutputZeroPointTensor", nullptr},
                                        {"BiasTensor", nullptr}});
    return bias == nullptr ? bytes : with(bytes, {{"BiasTensor", *bias}});
}

/// All elements are 255, scales are 1 but for the output's.
std::vector<core::Tensor> full_range(const Descriptor& descriptor, double output_scale,
                                     const std::vector<std::int32_t>& biases) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.name == "BiasTensor") {
            inputs.push_back(tensor_of<std::int32_t>(*slot.desc, biases));
        } else {
            const bool scale = slot.desc->data_type == DataType::float32;
            const double value = !scale ? 255.0 : slot.name == "OutputScaleTensor" ? output_scale : 1.0;
            inputs.push_back(drawn(*slot.desc, [&] { return value; }));
        }
    }
    return inputs;
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

/// Sums whose lower 32 bits are a small number, which FP32 would have exactly. The output is half of its range.
TEST_F(ConvolutionOnD3d12, SumsAroundTwoToTheThirtyTwo) {
    Shape shape;
    shape.group_inputs = 34000;
    shape.group_outputs = 4;
    shape.width.input = 3;
    Random random(6);
    const Descriptor any = convolution(random, shape, true);
    core::Dimensions bias_sizes(any.tensor("InputTensor")->sizes.size(), 1);
    bias_sizes[1] = shape.group_outputs;
    const core::TensorDesc bias = tensor(DataType::int32, bias_sizes);
    const Descriptor descriptor = plain_bytes(any, &bias);
    const std::int64_t products = std::int64_t{34000} * 255 * 255;
    const auto missing = static_cast<std::int32_t>((std::int64_t{1} << 32) - products);
    const std::vector<std::int32_t> biases{missing, missing + 5, missing - 5, missing - (1 << 24)};
    tests::expect_like_reference(engine(), descriptor, full_range(descriptor, std::ldexp(1.0, 25), biases));
}

/// One more tap along a row than tiles have bits for: such windows have no tiles.
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

/// These have a shader of their own, unless a thread would go over too many taps.
TEST_F(ConvolutionOnD3d12, OneChannelForEachGroup) {
    Random random(9);
    for (const std::uint32_t filter : {1u, 3u, 17u, 90u, 91u}) {
        Shape shape;
        shape.batch = 2;
        shape.groups = 3;
        shape.group_outputs = 2;
        shape.height = {filter + 1, filter, 1, 1, 1, 0, 0};
        shape.width = {filter + 4, filter, 1, 1, 0, 1, 0};
        for (const bool packed : {true, false}) {
            const Descriptor descriptor = convolution(random, shape, packed);
            EXPECT_EQ(plan_of(descriptor).dispatches[0].shader.shader == "quantized_depthwise_convolution",
                      filter * filter <= 8192);
            expect_like_reference(engine(), random, descriptor);
        }
    }
}

/// Rows of the output that begin and end within a word, and images that do, in slices and without.
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
        descriptor.tensor("InputTensor")->sizes.size() == 4 ? core::Dimensions{1, 4, 1, 1} : core::Dimensions{1, 4, 1};
    const Descriptor biased = with(descriptor, {{"BiasTensor", tensor(DataType::int32, bias_sizes)}});
    auto inputs = random_inputs(random, biased);
    inputs[6] =
        tensor_of<std::int32_t>(*biased.tensor("BiasTensor"), {2147483647, -2147483647 - 1, 2147483000, -2147483000});
    // So that the sums are not all clamped.
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
    core::Dimensions sizes = descriptor.tensor("OutputTensor")->sizes;
    sizes.back() = 3;
    const Descriptor padded =
        with(descriptor, {{"OutputTensor", tensor(descriptor.tensor("OutputTensor")->data_type, sizes)}});
    ASSERT_FALSE(operators::validate(padded, core::highest_feature_level));
    ASSERT_TRUE(engine().unsupported(padded));
}

}  // namespace
}  // namespace dmlconform::tests::quantized_linear_convolution_test

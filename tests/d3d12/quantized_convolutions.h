// Random quantised convolutions for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/extent.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::quantized {

struct Shape {
    std::uint32_t batch = 1;
    std::uint32_t groups = 1;
    std::uint32_t group_inputs = 1;
    std::uint32_t group_outputs = 1;
    Extent height;
    Extent width;
};

inline Extent random_extent(Random& random, std::uint32_t most) {
    Extent extent = random_windows(random);
    extent.input = random.between(extent.reach(), most + extent.reach());
    return extent;
}

inline core::DataType random_byte(Random& random) {
    return random.chance(2) ? core::DataType::int8 : core::DataType::uint8;
}

/// A tensor with one element or one per channel, of a suitable rank.
inline core::TensorDesc random_parameter(Random& random, core::DataType type, std::uint32_t channels,
                                         bool per_channel) {
    if (per_channel && channels > 1) {
        return random_input(random, type, {1, channels, 1, 1});
    }
    return tensor(type, core::Dimensions(random.between(1, 4), 1));
}

inline operators::Descriptor convolution(Random& random, const Shape& shape, bool packed) {
    const std::uint32_t channels = shape.groups * shape.group_outputs;
    const Extent& tall = shape.height;
    const bool has_height =
        tall.input != 1 || tall.output() != 1 || tall.start != 0 || tall.end != 0 || random.chance(2);
    const auto sizes = [&](std::uint32_t outer, std::uint32_t inner, std::uint32_t height, std::uint32_t width) {
        return has_height ? core::Dimensions{outer, inner, height, width} : core::Dimensions{outer, inner, width};
    };
    const auto layout = [&](core::DataType type, const core::Dimensions& dimensions) {
        return packed ? tensor(type, dimensions) : random_input(random, type, dimensions);
    };
    const core::DataType input = random_byte(random);
    const core::DataType filter = random_byte(random);
    const core::DataType output = random_byte(random);
    const core::Dimensions output_sizes = sizes(shape.batch, channels, shape.height.output(), shape.width.output());
    std::vector<Setting> settings{
        {"InputTensor",
         layout(input, sizes(shape.batch, shape.groups * shape.group_inputs, shape.height.input, shape.width.input))},
        {"InputScaleTensor", random_parameter(random, core::DataType::float32, channels, false)},
        {"FilterTensor", layout(filter, sizes(channels, shape.group_inputs, shape.height.filter, shape.width.filter))},
        {"FilterScaleTensor", random_parameter(random, core::DataType::float32, channels, random.chance(2))},
        {"OutputScaleTensor", random_parameter(random, core::DataType::float32, channels, false)},
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
        settings.emplace_back(
            "BiasTensor", layout(core::DataType::int32,
                                 has_height ? core::Dimensions{1, channels, 1, 1} : core::Dimensions{1, channels, 1}));
    }
    return describe("QUANTIZED_LINEAR_CONVOLUTION", settings);
}

/// Random inputs, with scales that spread the sums of this many products over the output's range.
inline std::vector<core::Tensor> random_inputs(Random& random, const operators::Descriptor& descriptor) {
    const double taps = static_cast<double>(*core::element_count(descriptor.sizes("FilterTensor"))) /
                        descriptor.sizes("FilterTensor")[0];
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.name == "OutputScaleTensor") {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(20, 80) * std::sqrt(taps); }));
        } else if (slot.desc->data_type == core::DataType::float32) {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(0.3, 1.5); }));
        } else if (slot.desc->data_type == core::DataType::int32) {
            inputs.push_back(drawn(*slot.desc, [&] { return std::floor(random.between_reals(-3000, 3000)); }));
        } else {
            inputs.push_back(random_bits(random, *slot.desc));
        }
    }
    return inputs;
}

inline void expect_like_reference(Engine& engine, Random& random, const operators::Descriptor& descriptor) {
    tests::expect_like_reference(engine, descriptor, random_inputs(random, descriptor));
}

inline d3d12::DispatchPlan plan_of(const operators::Descriptor& descriptor) {
    return d3d12::find_binding("QUANTIZED_LINEAR_CONVOLUTION")->plan(descriptor);
}

/// A descriptor with the sizes of `any`, but packed, without zero points, and with UINT8 tensors.
inline operators::Descriptor plain_bytes(const operators::Descriptor& any, const core::TensorDesc* bias) {
    const auto packed = [&](const char* field) { return tensor(core::DataType::uint8, any.sizes(field)); };
    const operators::Descriptor bytes = with(any, {{"InputTensor", packed("InputTensor")},
                                                   {"FilterTensor", packed("FilterTensor")},
                                                   {"OutputTensor", packed("OutputTensor")},
                                                   {"InputZeroPointTensor", nullptr},
                                                   {"FilterZeroPointTensor", nullptr},
                                                   {"OutputZeroPointTensor", nullptr},
                                                   {"BiasTensor", nullptr}});
    return bias == nullptr ? bytes : with(bytes, {{"BiasTensor", *bias}});
}

/// All elements are 255, and all scales are 1 except the output's.
inline std::vector<core::Tensor> full_range(const operators::Descriptor& descriptor, double output_scale,
                                            const std::vector<std::int32_t>& biases) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.name == "BiasTensor") {
            inputs.push_back(tensor_of<std::int32_t>(*slot.desc, biases));
        } else {
            const bool scale = slot.desc->data_type == core::DataType::float32;
            const double value = !scale ? 255.0 : slot.name == "OutputScaleTensor" ? output_scale : 1.0;
            inputs.push_back(drawn(*slot.desc, [&] { return value; }));
        }
    }
    return inputs;
}

}  // namespace dmlconform::tests::quantized

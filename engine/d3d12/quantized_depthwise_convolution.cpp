// The constant buffer of shaders/quantized_depthwise_convolution.hlsl, and its dispatch.
#include "engine/d3d12/quantized_depthwise_convolution.h"

#include <array>
#include <cstdint>

#include "engine/core/tensor.h"
#include "engine/d3d12/element_format.h"
#include "engine/d3d12/parameter_stride.h"
#include "engine/operators/rules/quantized_linear_convolution.h"

namespace dmlconform::d3d12 {
namespace {

using operators::QuantizedLinearConvolution;

/// As in the shader.
struct Parameters {
    std::uint32_t batch = 0;
    std::uint32_t output_channels = 0;
    std::uint32_t group_output_channels = 0;
    std::uint32_t input_sign = 0;
    std::array<std::uint32_t, 2> input_size{};
    std::array<std::uint32_t, 2> filter_size{};
    std::array<std::uint32_t, 2> output_size{};
    std::array<std::uint32_t, 2> window_stride{};
    std::array<std::uint32_t, 2> dilation{};
    std::array<std::uint32_t, 2> start_padding{};
    std::array<std::uint32_t, 4> input_strides{};
    std::array<std::uint32_t, 4> filter_strides{};
    std::array<std::uint32_t, 4> output_strides{};
    std::uint32_t filter_sign = 0;
    std::uint32_t output_sign = 0;
    std::uint32_t has_input_zero_point = 0;
    std::uint32_t has_filter_zero_point = 0;
    std::uint32_t has_bias = 0;
    std::uint32_t has_output_zero_point = 0;
    std::uint32_t filter_scale_step = 0;
    std::uint32_t filter_zero_point_step = 0;
    std::uint32_t bias_step = 0;
    std::uint32_t output_is_packed = 0;
    std::uint32_t inputs_adjacent = 0;
};

constexpr std::uint64_t group_size = 256;
constexpr std::uint64_t outputs_per_thread = 4;
constexpr std::size_t channel_dimension = 1;
// Mesa's llvmpipe ends a thread's loops without a word after 65,535 rounds in all. A thread may go over its taps four
// times.
constexpr std::uint64_t most_taps = 8192;

/// Strides of a 4-D tensor, or of a 3-D one {N,C,W} with a height of 1.
std::array<std::uint32_t, 4> strides_of(const core::TensorDesc& desc) {
    const auto strides = core::effective_strides(desc);
    const auto at = [&](std::size_t d) { return static_cast<std::uint32_t>(strides[d]); };
    if (strides.size() == 4) {
        return {at(0), at(1), at(2), at(3)};
    }
    return {at(0), at(1), 0, at(2)};
}

Parameters parameters_of(const operators::Descriptor& descriptor, const QuantizedLinearConvolution& op) {
    const auto present = [&](const char* field) { return descriptor.tensor(field) != nullptr ? 1u : 0u; };
    const auto channel_step = [&](const char* field) {
        return parameter_stride(descriptor.tensor(field), channel_dimension);
    };
    Parameters parameters;
    parameters.batch = op.batch;
    parameters.output_channels = op.output_channels;
    parameters.group_output_channels = op.output_channels / op.groups;
    for (std::size_t i = 0; i < op.spatial.size(); ++i) {
        parameters.input_size[i] = op.spatial[i].input;
        parameters.filter_size[i] = op.spatial[i].filter;
        parameters.output_size[i] = op.spatial[i].output;
        parameters.window_stride[i] = op.spatial[i].stride;
        parameters.dilation[i] = op.spatial[i].dilation;
        parameters.start_padding[i] = op.spatial[i].start_padding;
    }
    parameters.input_strides = strides_of(op.input);
    parameters.filter_strides = strides_of(op.filter);
    parameters.output_strides = strides_of(op.output);
    parameters.input_sign = sign_bit_of(op.input.data_type);
    parameters.filter_sign = sign_bit_of(op.filter.data_type);
    parameters.output_sign = sign_bit_of(op.output.data_type);
    parameters.has_input_zero_point = present("InputZeroPointTensor");
    parameters.has_filter_zero_point = present("FilterZeroPointTensor");
    parameters.has_bias = present("BiasTensor");
    parameters.has_output_zero_point = present("OutputZeroPointTensor");
    parameters.filter_scale_step = channel_step("FilterScaleTensor");
    parameters.filter_zero_point_step = channel_step("FilterZeroPointTensor");
    parameters.bias_step = channel_step("BiasTensor");
    parameters.output_is_packed = core::is_packed(op.output) ? 1 : 0;
    parameters.inputs_adjacent = op.spatial[1].stride == 1 && parameters.input_strides[3] == 1 ? 1 : 0;
    return parameters;
}

}  // namespace

bool is_depthwise(const operators::Descriptor& descriptor) {
    const QuantizedLinearConvolution op(descriptor);
    const auto& [height, width] = op.spatial;
    return op.group_channels == 1 && std::uint64_t{height.filter} * width.filter <= most_taps;
}

Dispatch depthwise_dispatch(const operators::Descriptor& descriptor) {
    const QuantizedLinearConvolution op(descriptor);
    Dispatch dispatch;
    dispatch.shader = depthwise_variant();
    dispatch.groups = groups_of(*core::element_count(op.output.sizes), outputs_per_thread * group_size);
    // In the order of the descriptor's tensors.
    for (std::size_t i = 0; i < descriptor.inputs().size(); ++i) {
        dispatch.buffers.push_back(input(i));
    }
    dispatch.buffers.push_back(output(0));
    dispatch.parameters = parameters_from(parameters_of(descriptor, op));
    return dispatch;
}

ShaderVariant depthwise_variant() {
    return {"quantized_depthwise_convolution", {}};
}

}  // namespace dmlconform::d3d12

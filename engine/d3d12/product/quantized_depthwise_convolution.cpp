// Plans quantised depthwise convolutions: by tiles if possible, otherwise by a general shader.
#include "engine/d3d12/product/quantized_depthwise_convolution.h"

#include <cstdint>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/parameter_stride.h"
#include "engine/d3d12/product/quantized_depthwise_tiles.h"
#include "shaders/product/quantized_depthwise_parameters.hlsli"

namespace dmlconform::d3d12 {
namespace {

constexpr std::uint64_t outputs_per_thread = 4;
constexpr std::size_t channel_dimension = 1;
// Mesa's llvmpipe silently ends a thread's loops after 65,535 iterations in total. A thread may loop over its filter
// elements four times.
constexpr std::uint64_t most_taps = 8192;

/// Strides of a 4-D tensor, or of a 3-D tensor {N,C,W} with height 1.
ConstantBuffer::uint4 strides_of(const core::TensorDesc& desc) {
    const auto strides = core::effective_strides(desc);
    const auto at = [&](std::size_t d) { return static_cast<std::uint32_t>(strides[d]); };
    if (strides.size() == 4) {
        return {{at(0), at(1), at(2), at(3)}};
    }
    return {{at(0), at(1), 0, at(2)}};
}

QuantizedDepthwiseParameters parameters_of(const operators::Descriptor& descriptor, const QuantizedConvolution& op) {
    const auto present = [&](const char* field) { return descriptor.tensor(field) != nullptr ? 1u : 0u; };
    const auto channel_step = [&](const char* field) {
        return parameter_stride(descriptor.tensor(field), channel_dimension);
    };
    QuantizedDepthwiseParameters parameters{};
    parameters.batch = op.input.sizes[0];
    parameters.output_channels = op.output_channels();
    parameters.group_output_channels = op.output_channels() / op.groups;
    parameters.input_size.words = {op.height.input, op.width.input};
    parameters.filter_size.words = {op.height.filter, op.width.filter};
    parameters.output_size.words = {op.height.output, op.width.output};
    parameters.window_stride.words = {op.height.stride, op.width.stride};
    parameters.dilation.words = {op.height.dilation, op.width.dilation};
    parameters.start_padding.words = {op.height.padding, op.width.padding};
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
    parameters.inputs_adjacent = op.width.stride == 1 && parameters.input_strides.words[3] == 1 ? 1 : 0;
    return parameters;
}

/// The factor that replaces a division by this number: see quotient_by in the shader.
std::uint32_t reciprocal_of(std::uint64_t divisor) {
    return static_cast<std::uint32_t>((1u << DEPTHWISE_QUOTIENT_BITS) / divisor + 1);
}

/// Returns the number of tiles.
std::uint64_t put_tiles(QuantizedDepthwiseParameters& parameters, const QuantizedConvolution& op,
                        const DepthwiseTile& tile) {
    const auto word = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
    const std::uint64_t channel_tiles = groups_of(op.output_channels(), tile.channels);
    const std::uint64_t row_tiles = groups_of(op.height.output, tile.rows);
    const std::uint64_t four_tiles = groups_of(op.width.output, tile.fours * outputs_per_thread);
    parameters.channel_tiles = word(channel_tiles);
    parameters.row_tiles = word(row_tiles);
    parameters.four_tiles = word(four_tiles);
    parameters.tile_channels = word(tile.channels);
    parameters.tile_rows = word(tile.rows);
    parameters.tile_fours = word(tile.fours);
    parameters.tile_input_rows = word(tile.input_rows);
    parameters.tile_input_segments = word(tile.input_segments);
    parameters.segment_count = word(tile.segments());
    parameters.thread_count = word(tile.threads());
    parameters.row_taps = word(tile.row_taps);
    parameters.input_words = word(*core::minimum_total_bytes(op.input) / sizeof(std::uint32_t));
    parameters.by_tile_fours = reciprocal_of(tile.fours);
    parameters.by_tile_turns = reciprocal_of(tile.turns());
    parameters.by_tile_input_rows = reciprocal_of(tile.input_rows);
    parameters.by_tile_input_segments = reciprocal_of(tile.input_segments);
    return op.input.sizes[0] * channel_tiles * row_tiles * four_tiles;
}

}  // namespace

bool is_depthwise(const operators::Descriptor& descriptor) {
    const QuantizedConvolution op(descriptor);
    return op.filter.sizes[1] == 1 && op.taps() <= most_taps;
}

Dispatch depthwise_dispatch(const operators::Descriptor& descriptor) {
    const QuantizedConvolution op(descriptor);
    QuantizedDepthwiseParameters parameters = parameters_of(descriptor, op);
    Dispatch dispatch;
    if (const auto tile = depthwise_tile(op)) {
        dispatch.shader = {"quantized_depthwise_tiled", {}};
        dispatch.groups = put_tiles(parameters, op, *tile);
    } else {
        dispatch.shader = {"quantized_depthwise_convolution", {}};
        dispatch.groups = groups_of(*core::element_count(op.output.sizes), outputs_per_thread * group_size);
    }
    // In the order of the descriptor's tensors.
    for (std::size_t i = 0; i < descriptor.inputs().size(); ++i) {
        dispatch.buffers.push_back(input(i));
    }
    dispatch.buffers.push_back(output(0));
    dispatch.parameters = parameters_from(parameters);
    return dispatch;
}

std::vector<ShaderVariant> depthwise_variants() {
    return {{"quantized_depthwise_tiled", {}}, {"quantized_depthwise_convolution", {}}};
}

}  // namespace dmlconform::d3d12

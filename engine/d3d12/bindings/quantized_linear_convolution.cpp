// QUANTIZED_LINEAR_CONVOLUTION: a matrix product in tiles where there is enough to do, one output after the other
// elsewhere.
#include "engine/operators/rules/quantized_linear_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "engine/core/tensor.h"
#include "engine/d3d12/binding.h"
#include "engine/d3d12/element_format.h"
#include "engine/d3d12/parameter_stride.h"

namespace dmlconform::d3d12 {
namespace {

using operators::QuantizedLinearConvolution;

/// Order of Descriptor::inputs().
enum Input : std::size_t {
    input_tensor,
    input_scale,
    input_zero_point,
    filter_tensor,
    filter_scale,
    filter_zero_point,
    bias_tensor,
    output_scale,
    output_zero_point,
    input_count,
};

// As in the shaders.
constexpr std::uint64_t group_size = 256;
constexpr std::uint64_t outputs_per_thread = 4;
constexpr std::uint64_t tile_size = 64;

/// As the constant buffer in shaders/quantized_linear_convolution.hlsli.
struct Parameters {
    std::uint32_t batch = 0;
    std::uint32_t output_channels = 0;
    std::uint32_t group_input_channels = 0;
    std::uint32_t group_output_channels = 0;
    std::array<std::uint32_t, 2> input_size{};
    std::array<std::uint32_t, 2> filter_size{};
    std::array<std::uint32_t, 2> output_size{};
    std::array<std::uint32_t, 2> window_stride{};
    std::array<std::uint32_t, 2> dilation{};
    std::array<std::uint32_t, 2> start_padding{};
    std::array<std::uint32_t, 4> input_strides{};
    std::array<std::uint32_t, 4> filter_strides{};
    std::array<std::uint32_t, 4> output_strides{};
    std::uint32_t input_sign = 0;
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
    std::uint32_t slice_count = 1;
    std::uint32_t taps_per_slice = 0;
    std::uint32_t inputs_adjacent = 0;
    std::uint32_t quads_in_rows = 0;
    std::uint32_t filter_packed = 0;
};

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
    const auto channel_step = [&](const char* field) { return parameter_stride(descriptor.tensor(field), 1); };
    Parameters parameters;
    parameters.batch = op.batch;
    parameters.output_channels = op.output_channels;
    parameters.group_input_channels = op.group_channels;
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
    parameters.quads_in_rows = op.spatial[1].output % outputs_per_thread == 0 ? 1 : 0;
    parameters.filter_packed = core::is_packed(op.filter) ? 1 : 0;
    return parameters;
}

// Mesa's llvmpipe ends a thread's loops without a word after 65,535 rounds in all. A thread that makes four outputs may
// go over its taps four times; in tiles, 32 taps take it 37 rounds.
constexpr std::uint64_t most_taps_per_slice = 8192;
constexpr std::uint64_t most_taps_per_tiled_slice = 16384;
constexpr std::uint64_t most_slices = 8192;
static_assert(most_taps_per_tiled_slice * 255 * 255 <= std::numeric_limits<std::int32_t>::max());

std::uint64_t tap_count(const QuantizedLinearConvolution& op) {
    const auto& [height, width] = op.spatial;
    return std::uint64_t{op.group_channels} * height.filter * width.filter;
}

/// How the work is divided.
struct Division {
    bool tiled = false;
    std::uint64_t groups_per_slice = 0;
    std::uint64_t slices = 1;
    std::uint64_t taps_per_slice = 0;
};

Division divide(const QuantizedLinearConvolution& op) {
    // Tiles pay from about so many products on. Narrower ones than a quarter of a tile are mostly idle.
    constexpr std::uint64_t fewest_channels = 8;
    constexpr std::uint64_t fewest_positions = 16;
    constexpr double fewest_products = 1 << 18;
    // Fewer groups leave parts of a large GPU idle, unless slices are too short to be worth their temporary.
    constexpr std::uint64_t enough_groups = 256;
    constexpr std::uint64_t shortest_slice = 512;

    const auto& [height, width] = op.spatial;
    const std::uint64_t taps = tap_count(op);
    const std::uint64_t positions = std::uint64_t{height.output} * width.output;
    const std::uint64_t group_outputs = op.output_channels / op.groups;
    const double products = static_cast<double>(taps) * static_cast<double>(positions) * op.output_channels * op.batch;
    Division division;
    division.tiled = group_outputs >= fewest_channels && positions >= fewest_positions && products >= fewest_products;
    division.groups_per_slice =
        division.tiled ? groups_of(positions, tile_size) * groups_of(group_outputs, tile_size) * op.groups * op.batch
                       : groups_of(positions * op.output_channels * op.batch, outputs_per_thread * group_size);
    const std::uint64_t wanted = std::min(enough_groups / division.groups_per_slice, taps / shortest_slice);
    const std::uint64_t needed = groups_of(taps, division.tiled ? most_taps_per_tiled_slice : most_taps_per_slice);
    // A multiple of the stretches in which tiles are read.
    division.taps_per_slice = groups_of(groups_of(taps, std::max({needed, wanted, std::uint64_t{1}})), 32) * 32;
    division.slices = groups_of(taps, division.taps_per_slice);
    return division;
}

DispatchPlan plan_convolution(const operators::Descriptor& descriptor) {
    const QuantizedLinearConvolution op(descriptor);
    const Division division = divide(op);
    const std::uint64_t elements = *core::element_count(op.output.sizes);
    Parameters parameters = parameters_of(descriptor, op);
    parameters.slice_count = static_cast<std::uint32_t>(division.slices);
    parameters.taps_per_slice = static_cast<std::uint32_t>(division.taps_per_slice);

    DispatchPlan plan;
    Dispatch dispatch;
    dispatch.shader = {division.tiled ? "quantized_linear_convolution_tiled" : "quantized_linear_convolution",
                       {{"FINISH", division.slices == 1 ? 1u : 0u}}};
    dispatch.groups = division.groups_per_slice * division.slices;
    for (std::size_t i = 0; i < input_count; ++i) {
        dispatch.buffers.push_back(input(i));
    }
    dispatch.buffers.push_back(output(0));
    dispatch.buffers.push_back(division.slices == 1 ? BufferRef{} : temporary(0));
    dispatch.parameters = parameters_from(parameters);
    plan.dispatches.push_back(dispatch);
    if (division.slices > 1) {
        plan.temporaries.push_back(division.slices * elements * sizeof(std::int32_t));
        dispatch.shader = {"quantized_linear_convolution_finish", {}};
        dispatch.groups = groups_of(elements, outputs_per_thread * group_size);
        plan.dispatches.push_back(std::move(dispatch));
    }
    return plan;
}

std::vector<ShaderVariant> convolution_variants() {
    std::vector<ShaderVariant> variants{{"quantized_linear_convolution_finish", {}}};
    for (const std::string_view shader : {"quantized_linear_convolution", "quantized_linear_convolution_tiled"}) {
        for (auto& variant : all_variants(shader, {{"FINISH", {0, 1}}})) {
            variants.push_back(std::move(variant));
        }
    }
    return variants;
}

/// Positions are numbers of 32 bits in shaders, and padding is told from the input by being beyond its end.
std::optional<std::string> unsupported_convolution(const operators::Descriptor& descriptor) {
    const QuantizedLinearConvolution op(descriptor);
    if (tap_count(op) > most_taps_per_slice * most_slices) {
        return fmt::format("each output sums {} products; the shaders can do {}", tap_count(op),
                           most_taps_per_slice * most_slices);
    }
    for (const auto& spatial : op.spatial) {
        const std::uint64_t padded = std::uint64_t{spatial.input} + spatial.start_padding + spatial.end_padding;
        if (padded > std::numeric_limits<std::uint32_t>::max()) {
            return fmt::format("the padded input has {} elements along a dimension, more than 32 bits can count",
                               padded);
        }
    }
    return std::nullopt;
}

}  // namespace

Bindings quantized_linear_convolution_bindings() {
    return {{.name = "QUANTIZED_LINEAR_CONVOLUTION",
             .plan = plan_convolution,
             .variants = convolution_variants,
             .unsupported = unsupported_convolution}};
}

}  // namespace dmlconform::d3d12

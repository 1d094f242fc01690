// Operators that slide windows over a tensor: poolings, their gradients, and local response normalisation. The plans
// define the windows; shaders/window/window.hlsl reduces them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/parameter_stride.h"
#include "engine/d3d12/planning/words.h"
#include "engine/d3d12/reduction/reduction.h"
#include "engine/d3d12/window/window.h"

namespace dmlconform::d3d12::window_bindings {
namespace {

using core::DataType;
using core::TensorDesc;
using operators::Descriptor;

/// Dimensions before this one are batch and channel.
constexpr std::size_t first_spatial = 2;
constexpr std::size_t channel_dimension = 1;

/// The windows of a pooling. `seen` is the tensor that they cover; for gradients it is the forward output.
std::vector<std::optional<Window>> windows_of(const Descriptor& descriptor, const TensorDesc& seen) {
    const auto& sizes = descriptor.uints("WindowSize");
    std::vector<std::optional<Window>> windows(first_spatial);
    for (std::size_t w = 0; w < sizes.size(); ++w) {
        windows.emplace_back(
            Window{.size = sizes[w],
                   .stride = descriptor.uints("Strides")[w],
                   .dilation = descriptor.has_field("Dilations") ? descriptor.uints("Dilations")[w] : 1,
                   .padding = descriptor.uints("StartPadding")[w],
                   .extent = seen.sizes[first_spatial + w]});
    }
    return windows;
}

/// A pass from elements of `source` to a tensor of these sizes.
WindowPass pass_over(const TensorDesc& source, std::uint32_t function, const Descriptor& descriptor,
                     const core::Dimensions& sizes) {
    WindowPass pass;
    pass.function = function;
    pass.type = source.data_type;
    pass.sizes = sizes;
    pass.windows = windows_of(descriptor, source);
    pass.first = core::signed_strides(source);
    return pass;
}

/// A pass from elements of the input to those of the output.
WindowPass pooling(std::uint32_t function, const Descriptor& descriptor) {
    const TensorDesc& source = *descriptor.tensor("InputTensor");
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    WindowPass pass = pass_over(source, function, descriptor, target.sizes);
    pass.write_to(target);
    pass.buffers = {input(0), {}, output(0), {}};
    pass.parameters.kind = kind_of(source.data_type);
    return pass;
}

/// True if there is one window for each channel, which covers exactly the channel.
bool is_global(const WindowPass& pass) {
    return std::all_of(pass.windows.begin() + first_spatial, pass.windows.end(), [](const auto& window) {
        return window->padding == 0 && window->dilation == 1 && window->size == window->extent;
    });
}

/// Long slices are reduced by several thread groups.
DispatchPlan mean_of_channels(const Descriptor& descriptor) {
    Reduction reduction;
    reduction.tensors[reduction_input] = {descriptor.tensor("InputTensor"), input(0)};
    reduction.tensors[reduction_output] = {descriptor.tensor("OutputTensor"), output(0)};
    reduction.parameters.finish = FINISH_MEAN;
    reduction.reduced.assign(descriptor.sizes("InputTensor").size(), true);
    std::fill_n(reduction.reduced.begin(), first_spatial, false);
    DispatchPlan plan;
    ReductionPlanner(plan, std::move(reduction)).to_results();
    return plan;
}

DispatchPlan plan_average(const Descriptor& descriptor) {
    WindowPass pass = pooling(WINDOW_AVERAGE, descriptor);
    // With padding at the end, several such windows may exist.
    if (is_global(pass) && *core::element_count(pass.sizes) == std::uint64_t{pass.sizes[0]} * pass.sizes[1]) {
        return mean_of_channels(descriptor);
    }
    pass.parameters.includes_padding = descriptor.uint("IncludePadding") != 0 ? 1 : 0;
    return {{}, {window_dispatch(pass)}};
}

DispatchPlan plan_root(const Descriptor& descriptor) {
    WindowPass pass = pooling(WINDOW_ROOT, descriptor);
    const std::uint32_t p = descriptor.uint("P");
    pass.parameters.exponent = static_cast<float>(p);
    pass.parameters.inverse_exponent = static_cast<float>(1.0 / p);
    return {{}, {window_dispatch(pass)}};
}

DispatchPlan plan_quantized_average(const Descriptor& descriptor) {
    constexpr std::string_view parameters[] = {"InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor",
                                               "OutputZeroPointTensor"};
    WindowPass pass = pooling(WINDOW_QUANTIZED_AVERAGE, descriptor);
    pass.parameters.includes_padding = descriptor.uint("IncludePadding") != 0 ? 1 : 0;
    pass.parameters.output_kind = kind_of(descriptor.tensor("OutputTensor")->data_type);
    pass.other.resize(pass.sizes.size());
    pass.other[channel_dimension] = 1;
    for (std::size_t i = 0; i < std::size(parameters); ++i) {
        const TensorDesc* parameter = descriptor.tensor(parameters[i]);
        pass.parameters.parameter_strides.words[i] = parameter_stride(parameter, channel_dimension);
        pass.buffers.push_back(parameter != nullptr ? input(1 + i) : BufferRef{});
    }
    pass.parameters.parameters_present = (descriptor.tensor("InputZeroPointTensor") != nullptr ? 1u : 0u) |
                                         (descriptor.tensor("OutputZeroPointTensor") != nullptr ? 2u : 0u);
    return {{}, {window_dispatch(pass)}};
}

/// Sets sort keys and the lowest number: see key_of in shaders/window/window_states.hlsli.
void put_order(WindowParameters& parameters, DataType type) {
    constexpr std::uint32_t sign_bit = 0x80000000;
    if (core::is_floating_point(type)) {
        const bool half = type == DataType::float16;
        const std::uint32_t infinity = infinity_of(type);
        parameters.sign_mask = 0xffffffff;
        parameters.key_offset = sign_bit - 1 - infinity;
        parameters.nan_key = 0 - infinity + parameters.key_offset - 1;
        parameters.lowest_low = half ? 0xfbff : 0xff7fffff;
        return;
    }
    const bool has_sign = core::is_signed_integer(type);
    const std::uint32_t bits = core::bits_of(type);
    parameters.key_offset = has_sign ? 0 : sign_bit;
    parameters.nan_key = sign_bit;
    if (has_sign) {
        (bits == 64 ? parameters.lowest_high : parameters.lowest_low) = sign_bit >> (bits == 64 ? 0 : 32 - bits);
    }
}

/// The largest elements, without their indices.
WindowPass largest(const Descriptor& descriptor, const TensorDesc& shape) {
    const TensorDesc& source = *descriptor.tensor("InputTensor");
    const std::uint32_t function = core::bits_of(source.data_type) == 64 ? WINDOW_LARGEST_TWO_WORDS : WINDOW_LARGEST;
    WindowPass pass = pass_over(source, function, descriptor, shape.sizes);
    pass.buffers = {input(0), {}, {}, {}};
    pass.parameters.kind = kind_of(pass.type);
    put_order(pass.parameters, pass.type);
    return pass;
}

/// Also writes their indices, as words of a tensor with these strides.
void want_indices(WindowPass& pass, const Descriptor& descriptor, core::Strides strides, std::uint32_t words,
                  BufferRef buffer) {
    if (pass.function == WINDOW_LARGEST) {
        pass.function = WINDOW_LARGEST_INDEX;
    }
    pass.second = row_major_strides(descriptor.sizes("InputTensor"));
    pass.other = std::move(strides);
    pass.parameters.index_words = words;
    pass.buffers[3] = buffer;
}

DispatchPlan plan_largest(const Descriptor& descriptor) {
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    WindowPass pass = largest(descriptor, target);
    pass.write_to(target);
    pass.buffers[2] = output(0);
    pass.parameters.has_values = 1;
    if (descriptor.has_field("OutputIndicesTensor")) {
        if (const TensorDesc* indices = descriptor.tensor("OutputIndicesTensor")) {
            want_indices(pass, descriptor, core::signed_strides(*indices), core::bits_of(indices->data_type) / 32,
                         output(1));
        }
    }
    return {{}, {window_dispatch(pass)}};
}

/// A pass from the output's gradient to the input's. Windows are positioned relative to the former.
WindowPass gradient(std::uint32_t function, const Descriptor& descriptor, BufferRef from) {
    const TensorDesc& source = *descriptor.tensor("InputGradientTensor");
    const TensorDesc& target = *descriptor.tensor("OutputGradientTensor");
    WindowPass pass = pass_over(source, function, descriptor, target.sizes);
    pass.write_to(target);
    pass.buffers = {from, {}, output(0), {}};
    return pass;
}

DispatchPlan plan_average_gradient(const Descriptor& descriptor) {
    WindowPass pass = gradient(WINDOW_AVERAGE_GRADIENT, descriptor, input(0));
    const bool includes_padding = descriptor.uint("IncludePadding") != 0;
    pass.parameters.includes_padding = includes_padding ? 1 : 0;
    for (std::size_t d = first_spatial; d < pass.sizes.size(); ++d) {
        Window& window = *pass.windows[d];
        window.divisor_end =
            window.padding + pass.sizes[d] + (includes_padding ? descriptor.uints("EndPadding")[d - first_spatial] : 0);
    }
    return {{}, {window_dispatch(pass)}};
}

/// First finds the index of each window's largest element. Then each input element sums the gradients of the windows
/// that chose it.
DispatchPlan plan_largest_gradient(const Descriptor& descriptor) {
    constexpr std::uint64_t word_bytes = 4;
    const TensorDesc& gradients = *descriptor.tensor("InputGradientTensor");
    const core::Strides index_strides = row_major_strides(gradients.sizes);
    WindowPass indices = largest(descriptor, gradients);
    want_indices(indices, descriptor, index_strides, 1, temporary(0));
    indices.parameters.no_index = 0xffffffff;
    WindowPass sums = gradient(WINDOW_LARGEST_GRADIENT, descriptor, input(1));
    sums.second = index_strides;
    sums.buffers[1] = temporary(0);
    // Windows with dilation are searched over their whole extent.
    for (std::optional<Window>& window : sums.windows) {
        if (window) {
            window->size = (window->size - 1) * window->dilation + 1;
        }
    }
    return {{*core::element_count(gradients.sizes) * word_bytes}, {window_dispatch(indices), window_dispatch(sums)}};
}

/// Coordinates in and around the input, and element indices, have 32 bits.
std::optional<std::string> too_far(const Descriptor& descriptor) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 32;
    // Thread indices may exceed the last element by the number that a group processes at once.
    constexpr std::uint64_t most_elements = 0xffff0000;
    const bool is_gradient = descriptor.has_field("OutputGradientTensor");
    const TensorDesc& image = *descriptor.tensor(is_gradient ? "OutputGradientTensor" : "InputTensor");
    if (const std::uint64_t count = *core::element_count(image.sizes); count > most_elements) {
        return fmt::format("the shaders count up to {} elements, and there are {}", most_elements, count);
    }
    for (std::size_t w = 0; w < descriptor.uints("WindowSize").size(); ++w) {
        if (std::uint64_t{image.sizes[first_spatial + w]} + descriptor.uints("StartPadding")[w] +
                descriptor.uints("EndPadding")[w] >=
            limit) {
            return "the shader does not count 2^32 positions in a padded dimension";
        }
    }
    return std::nullopt;
}

std::vector<ShaderVariant> variants(std::initializer_list<std::uint32_t> functions,
                                    std::initializer_list<std::uint32_t> widths) {
    std::vector<ShaderVariant> result;
    for (const std::uint32_t function : functions) {
        append(result, window_variants(function, widths));
    }
    return result;
}

std::vector<ShaderVariant> average_variants() {
    return joined(
        {window_variants(WINDOW_AVERAGE, {32, 16}), variants_of({.combine = COMBINE_SUM, .numbers = NUMBERS_REAL})});
}

std::vector<ShaderVariant> largest_variants() {
    auto result = variants({WINDOW_LARGEST, WINDOW_LARGEST_INDEX}, {32, 16, 8});
    result.push_back(window_variants(WINDOW_LARGEST_TWO_WORDS, {64}).front());
    return result;
}

Binding pooling_binding(std::string_view name, DispatchPlan (*plan)(const Descriptor&),
                        std::initializer_list<std::uint32_t> functions, std::initializer_list<std::uint32_t> widths) {
    return {.name = name,
            .plan = plan,
            .variants = [all = variants(functions, widths)] { return all; },
            .unsupported = too_far};
}

}  // namespace

Bindings bindings() {
    Bindings rows{
        pooling_binding("QUANTIZED_LINEAR_AVERAGE_POOLING", plan_quantized_average, {WINDOW_QUANTIZED_AVERAGE}, {8}),
        pooling_binding("AVERAGE_POOLING_GRAD", plan_average_gradient, {WINDOW_AVERAGE_GRADIENT}, {32, 16}),
        pooling_binding("MAX_POOLING_GRAD", plan_largest_gradient, {WINDOW_LARGEST_INDEX, WINDOW_LARGEST_GRADIENT},
                        {32, 16}),
    };
    for (const std::string_view name : {"AVERAGE_POOLING", "AVERAGE_POOLING1"}) {
        rows.push_back({.name = name, .plan = plan_average, .variants = average_variants, .unsupported = too_far});
    }
    for (const std::string_view name : {"LP_POOLING", "LP_POOLING1"}) {
        rows.push_back(pooling_binding(name, plan_root, {WINDOW_ROOT}, {32, 16}));
    }
    for (const std::string_view name : {"MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"}) {
        rows.push_back({.name = name, .plan = plan_largest, .variants = largest_variants, .unsupported = too_far});
    }
    return rows;
}

}  // namespace dmlconform::d3d12::window_bindings

// LOCAL_RESPONSE_NORMALIZATION and its gradient: windows around each element, across channels or in a plane.

#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/made_elements.h"
#include "engine/d3d12/planning/words.h"
#include "engine/d3d12/window/window.h"

namespace dmlconform::d3d12::local_response_normalization_bindings {
namespace {

using core::TensorDesc;
using operators::Descriptor;

constexpr std::size_t channel_dimension = 1;

/// Windows of LocalSize elements around each element, which begin `before` elements earlier.
std::vector<std::optional<Window>> regions_of(const Descriptor& descriptor, std::uint32_t before) {
    const core::Dimensions& sizes = descriptor.sizes("InputTensor");
    const bool across_channels = descriptor.uint("CrossChannel") != 0;
    std::vector<std::optional<Window>> windows(sizes.size());
    for (std::size_t d = 1; d < sizes.size(); ++d) {
        if ((d == channel_dimension) == across_channels) {
            windows[d] = Window{.size = descriptor.uint("LocalSize"), .padding = before, .extent = sizes[d]};
        }
    }
    return windows;
}

/// If LocalSize is even, one more element is after the centre than before.
std::uint32_t elements_before(const Descriptor& descriptor) {
    return (descriptor.uint("LocalSize") - 1) / 2;
}

std::uint32_t elements_behind(const Descriptor& descriptor) {
    return descriptor.uint("LocalSize") - 1 - elements_before(descriptor);
}

/// The common part of all passes, which compute one element for each element of the input.
WindowPass response(std::uint32_t function, const Descriptor& descriptor, std::uint32_t before) {
    const TensorDesc& source = *descriptor.tensor("InputTensor");
    WindowPass pass;
    pass.function = function;
    pass.type = source.data_type;
    pass.sizes = source.sizes;
    pass.windows = regions_of(descriptor, before);
    const double factor = double{descriptor.number("Alpha")} / descriptor.uint("LocalSize");
    pass.parameters.kind = kind_of(source.data_type);
    pass.parameters.exponent = descriptor.number("Beta");
    pass.parameters.factor = static_cast<float>(factor);
    pass.parameters.gradient_factor = static_cast<float>(2 * factor * descriptor.number("Beta"));
    pass.parameters.bias = descriptor.number("Bias");
    return pass;
}

DispatchPlan plan_response(const Descriptor& descriptor) {
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    WindowPass pass = response(WINDOW_RESPONSE, descriptor, elements_before(descriptor));
    pass.first = core::signed_strides(*descriptor.tensor("InputTensor"));
    pass.write_to(target);
    pass.buffers = {input(0), {}, output(0), {}};
    return {{}, {window_dispatch(pass)}};
}

/// The first pass computes each element's direct part, and its contribution to the elements whose windows contain it.
/// In the second pass, windows are mirrored.
DispatchPlan plan_gradient(const Descriptor& descriptor) {
    constexpr std::uint64_t word_bytes = 4;
    const TensorDesc& source = *descriptor.tensor("InputTensor");
    const TensorDesc& target = *descriptor.tensor("OutputGradientTensor");
    const core::Strides source_strides = core::signed_strides(source);
    WindowPass parts = response(WINDOW_RESPONSE_PARTS, descriptor, elements_before(descriptor));
    parts.first = source_strides;
    parts.second = core::signed_strides(*descriptor.tensor("InputGradientTensor"));
    parts.buffers = {input(0), input(1), temporary(0), temporary(1)};
    WindowPass sums = response(WINDOW_RESPONSE_GRADIENT, descriptor, elements_behind(descriptor));
    sums.first = row_major_strides(source.sizes);
    sums.second = source_strides;
    sums.write_to(target);
    sums.buffers = {temporary(1), input(0), output(0), temporary(0)};
    const std::uint64_t bytes = *core::element_count(source.sizes) * word_bytes;
    return {{bytes, bytes}, {window_dispatch(parts), window_dispatch(sums)}};
}

std::vector<ShaderVariant> gradient_variants() {
    return joined({window_variants(WINDOW_RESPONSE_GRADIENT, {32, 16}),
                   all_variants("window", {{"FUNCTION", {WINDOW_RESPONSE_PARTS}},
                                           {"ELEMENTS", {ELEMENTS_WORDS, ELEMENTS_NARROW}},
                                           {"LANES", {1}}})});
}

/// Element indices, including those of windows, are 32-bit numbers.
std::optional<std::string> too_many(const Descriptor& descriptor) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 32;
    const core::Dimensions& sizes = descriptor.sizes("InputTensor");
    if (*core::element_count(sizes) >= limit) {
        return "the shader does not count 2^32 elements";
    }
    for (const std::uint32_t size : sizes) {
        if (std::uint64_t{size} + elements_behind(descriptor) >= limit) {
            return "the shader does not count 2^32 positions in a padded dimension";
        }
    }
    return std::nullopt;
}

}  // namespace

Bindings bindings() {
    return {{.name = "LOCAL_RESPONSE_NORMALIZATION",
             .plan = plan_response,
             .variants =
                 [] {
                     return window_variants(WINDOW_RESPONSE, {32, 16});
                 },
             .unsupported = too_many},
            {.name = "LOCAL_RESPONSE_NORMALIZATION_GRAD",
             .plan = plan_gradient,
             .variants = gradient_variants,
             .unsupported = too_many}};
}

}  // namespace dmlconform::d3d12::local_response_normalization_bindings

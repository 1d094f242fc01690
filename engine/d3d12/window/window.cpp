// Plans dispatches of window.hlsl.
#include "engine/d3d12/window/window.h"

#include <cstddef>

#include "engine/d3d12/planning/made_elements.h"
#include "engine/d3d12/planning/strided_dimensions.h"

namespace dmlconform::d3d12 {
namespace {

/// In the order of the shader's rows.
enum Array : std::size_t {
    first_input,
    second_input,
    made,
    other,
    numbers,
    array_count = numbers + MOST_WINDOW_DIMENSIONS
};

std::int64_t stride_of(const core::Strides& strides, std::size_t dimension) {
    return strides.empty() ? 0 : strides[dimension];
}

/// The rows of the constant buffer's table for one window with these strides.
void put_window(ConstantBuffer::uint4* rows, const Window& window, std::int64_t first_stride,
                std::int64_t second_stride) {
    rows[0].words = {window.size, window.stride, window.dilation, window.padding};
    rows[1].words = {window.extent, modulo_2_32(first_stride), modulo_2_32(second_stride), window.divisor_end};
}

constexpr std::uint32_t lane_count = 4;

/// Functions with little computation per element, for which finding the element takes a significant share of the time.
bool may_have_lanes(std::uint32_t function) {
    return function == WINDOW_AVERAGE || function == WINDOW_LARGEST || function == WINDOW_LARGEST_INDEX;
}

/// Splits the outermost dimension into groups of four, unless windows slide along it: its planes then have windows at
/// the same positions. The remaining parameters are the distances between planes, each of which must have whole words.
bool divide_into_lanes(StridedDimensions<array_count>& dimensions, WindowParameters& parameters,
                       std::uint32_t elements_per_word) {
    auto& planes = dimensions.back();
    for (std::size_t number = numbers; number < array_count; ++number) {
        if (planes.strides[number] != 0) {
            return false;
        }
    }
    if (planes.size % lane_count != 0 || planes.strides[made] % elements_per_word != 0) {
        return false;
    }
    planes.size /= lane_count;
    for (std::size_t a = 0; a < array_count; ++a) {
        if (a < numbers) {
            parameters.lane_strides.words[a] = modulo_2_32(planes.strides[a]);
        }
        planes.strides[a] *= lane_count;
    }
    return true;
}

}  // namespace

void WindowPass::write_to(const core::TensorDesc& target) {
    output = core::signed_strides(target);
    packed = core::is_packed(target);
}

Dispatch window_dispatch(const WindowPass& pass) {
    WindowParameters parameters = pass.parameters;
    StridedDimensions<array_count> dimensions;
    std::size_t window_count = 0;
    for (std::size_t d = pass.sizes.size(); d-- > 0;) {
        SharedDimension<array_count> here;
        here.size = pass.sizes[d];
        here.strides[made] = stride_of(pass.output, d);
        here.strides[other] = stride_of(pass.other, d);
        if (pass.windows[d]) {
            put_window(&parameters.windows[2 * window_count], *pass.windows[d], stride_of(pass.first, d),
                       stride_of(pass.second, d));
            here.strides[numbers + window_count++] = 1;
        } else {
            here.strides[first_input] = stride_of(pass.first, d);
            here.strides[second_input] = stride_of(pass.second, d);
        }
        dimensions.push_back(here);
    }
    for (; window_count < MOST_WINDOW_DIMENSIONS; ++window_count) {
        put_window(&parameters.windows[2 * window_count], {}, 0, 0);
    }
    dimensions = merged(dimensions);
    const std::uint32_t layout = layout_of(pass.type, pass.packed);
    const std::uint32_t per_word = layout == ELEMENTS_PACKED ? 1u << packing_of(pass.type) : 1u;
    const bool lanes = layout != ELEMENTS_NARROW && may_have_lanes(pass.function) &&
                       divide_into_lanes(dimensions, parameters, per_word);
    put_rows(strided_rows(dimensions, array_count), parameters.dimensions);
    const std::uint64_t count = count_of(dimensions);
    parameters.element_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    parameters.packing = packing_of(pass.type);

    return {{"window", {{"FUNCTION", pass.function}, {"ELEMENTS", layout}, {"LANES", lanes ? lane_count : 1}}},
            pass.buffers,
            parameters_from(parameters),
            groups_for(count, layout, pass.type)};
}

std::vector<ShaderVariant> window_variants(std::uint32_t function, std::initializer_list<std::uint32_t> widths) {
    auto variants =
        all_variants("window", {{"FUNCTION", {function}}, {"ELEMENTS", layouts_of(widths)}, {"LANES", {1}}});
    if (may_have_lanes(function)) {
        for (const std::uint32_t layout : layouts_of(widths)) {
            if (layout != ELEMENTS_NARROW) {
                variants.push_back({"window", {{"FUNCTION", function}, {"ELEMENTS", layout}, {"LANES", lane_count}}});
            }
        }
    }
    return variants;
}

core::Strides row_major_strides(const core::Dimensions& sizes) {
    const auto packed = core::packed_strides(sizes);
    return {packed.begin(), packed.end()};
}

}  // namespace dmlconform::d3d12

// Operators whose threads compute single elements of the output, or whole words of narrow elements: see
// shaders/common/made_elements.hlsli.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/d3d12/planning/element_format.h"
#include "shaders/common/element_layouts.hlsli"

namespace dmlconform::d3d12 {

/// The layout of an output, with or without gaps: ELEMENTS_…
[[nodiscard]] inline std::uint32_t layout_of(core::DataType type, bool packed) {
    if (core::bits_of(type) >= 32) {
        return ELEMENTS_WORDS;
    }
    return packed ? ELEMENTS_PACKED : ELEMENTS_NARROW;
}

/// All possible layouts for types of these widths.
[[nodiscard]] inline std::vector<std::uint32_t> layouts_of(std::initializer_list<std::uint32_t> widths) {
    bool words = false;
    bool narrow = false;
    for (const std::uint32_t width : widths) {
        (width >= 32 ? words : narrow) = true;
    }
    std::vector<std::uint32_t> layouts;
    if (words) {
        layouts.push_back(ELEMENTS_WORDS);
    }
    if (narrow) {
        layouts.insert(layouts.end(), {ELEMENTS_NARROW, ELEMENTS_PACKED});
    }
    return layouts;
}

/// The number of thread groups for this many elements.
[[nodiscard]] inline std::uint64_t groups_for(std::uint64_t elements, std::uint32_t layout, core::DataType type) {
    return groups_of(elements, layout == ELEMENTS_PACKED ? group_size << packing_of(type) : group_size);
}

}  // namespace dmlconform::d3d12

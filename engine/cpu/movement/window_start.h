// Where the windows of SLICE1 and SLICE_GRAD start.
#pragma once

#include <cstdint>

namespace dmlconform::cpu::movement {

/// The coordinate of the first element that a window takes along a dimension. A negative step starts at the window's
/// last element.
[[nodiscard]] constexpr std::int64_t window_start(std::uint32_t offset, std::uint32_t size, std::int32_t step) {
    return step > 0 ? offset : std::int64_t{offset} + size - 1;
}

}  // namespace dmlconform::cpu::movement

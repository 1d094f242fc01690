// The elements of an output that differs, for people: all of a small one, the first few that differ of a large one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

struct ShownElement {
    /// Row-major index.
    std::uint64_t index = 0;
    std::uint64_t expected_bits = 0;
    std::uint64_t actual_bits = 0;
    bool beyond = false;
};

/// Outputs of at most so many elements are shown whole.
inline constexpr std::uint64_t most_shown_whole = 64;
/// Of larger ones, so many elements beyond the tolerance.
inline constexpr std::size_t most_shown_beyond = 10;

/// As compare() takes them. In ascending order.
[[nodiscard]] std::vector<ShownElement> shown_elements(const core::Tensor& expected, const core::Tensor& actual,
                                                       const core::Tolerance& tolerance,
                                                       const core::ElementSlack* slack);

}  // namespace dmlconform::compare

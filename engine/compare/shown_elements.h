// Elements of an output that reports show: all of a small output, the first ones beyond the tolerance of a large
// output.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compare/criteria.h"
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

/// Outputs with at most this many elements are shown completely.
inline constexpr std::uint64_t most_shown_whole = 64;
/// Limit for the number of elements of larger outputs.
inline constexpr std::size_t most_shown_beyond = 10;

/// The elements to show, in ascending order. The arguments are those of compare().
[[nodiscard]] std::vector<ShownElement> shown_elements(const core::Tensor& expected, const core::Tensor& actual,
                                                       const Criteria& tolerance, const core::ElementSlack* slack);

}  // namespace dmlconform::compare

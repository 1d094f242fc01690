// Random elements, depending on how an operator uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/fuzz/random.h"

namespace dmlconform::fuzz {

/// How an operator uses the elements of a tensor.
enum class ElementKind : std::uint8_t {
    bits,       // copied: any bits, including NaNs
    ordered,    // compared: ties, extremes and infinities, but no NaN, whose order is unspecified
    number,     // computed with: numbers of similar magnitude, no NaN or infinity
    scale,      // a positive factor, often a power of two
    divisor,    // a larger divisor, which scales a sum of products to 8 bits
    small,      // an addend for which sums fit 32 bits
    index,      // an index or a count: 0 or slightly more
    integer,    // an integer that is computed with: of any number of bits, and as often of few as of many
    negatable,  // the same, but not the least number of a signed type, which has no positive counterpart
    nonzero,    // the same, but neither 0 nor -1: a divisor of integers
    shift,      // a number of bits to shift by: less than the type has
    common,     // a number that all integer types have: 0 to 127
};

/// Draws packed elements in row-major order. The data type must be at least one byte wide.
[[nodiscard]] std::vector<std::byte> random_elements(Random& random, const core::TensorDesc& desc, ElementKind kind);

}  // namespace dmlconform::fuzz

// Random elements, by what an operator does with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/fuzz/random.h"

namespace dmlconform::fuzz {

/// What the elements of a tensor are to an operator.
enum class ElementKind : std::uint8_t {
    bits,     // only moved: any bits at all, NaNs too
    ordered,  // compared: ties, extremes and infinities, but no NaN, whose place nothing specifies
    number,   // computed with: numbers of one magnitude, no NaN or infinity
    scale,    // a positive factor, often a power of two
    divisor,  // a larger one, by which a sum of products comes back to 8 bits
    small,    // an addend that leaves sums within 32 bits
    index,    // as an index or a count: 0 or little more
};

/// Elements of the tensor, packed, in row-major order. The data type is at least a byte wide.
[[nodiscard]] std::vector<std::byte> random_elements(Random& random, const core::TensorDesc& desc, ElementKind kind);

}  // namespace dmlconform::fuzz

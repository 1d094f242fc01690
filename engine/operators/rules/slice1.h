// SLICE1: a strided window of a tensor, copied bit by bit.
#pragma once

#include <cstdint>
#include <span>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// The operator's fields by name. Refers to the descriptor, which must be a SLICE1 one and outlive it.
struct Slice1 {
    explicit Slice1(const Descriptor& descriptor);

    const core::TensorDesc& input;
    const core::TensorDesc& output;
    std::span<const std::uint32_t> offsets;
    std::span<const std::uint32_t> window_sizes;
    std::span<const std::int32_t> window_strides;

    /// Coordinate of the first selected element along a dimension: the window's start, or its end for a negative
    /// stride.
    [[nodiscard]] std::uint32_t start(std::size_t dimension) const;
};

}  // namespace dmlconform::operators

// TOP_K1 and TOP_K: the K largest or smallest elements along an axis, sorted, with their indices.
#pragma once

#include <cstdint>

#include "engine/operators/descriptor.h"
#include "engine/operators/enumerations.h"

namespace dmlconform::operators {

/// The operators' fields by name. Refers to the descriptor, which must be a TOP_K1 or TOP_K one and outlive it.
struct TopK1 {
    explicit TopK1(const Descriptor& descriptor);

    const core::TensorDesc& input;
    const core::TensorDesc& output_value;
    const core::TensorDesc& output_index;
    std::uint32_t axis = 0;
    std::uint32_t k = 0;
    /// Decreasing gives the largest elements, largest first. TOP_K has no such field and is decreasing.
    AxisDirection direction = AxisDirection::increasing;
};

}  // namespace dmlconform::operators

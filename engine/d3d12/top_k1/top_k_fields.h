// The fields of TOP_K1 and TOP_K.
#pragma once

#include <cstdint>

#include "engine/operators/descriptor.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::d3d12 {

/// Refers to the descriptor, which must outlive it.
struct TopKFields {
    explicit TopKFields(const operators::Descriptor& descriptor)
        : input(*descriptor.tensor("InputTensor")),
          values(*descriptor.tensor("OutputValueTensor")),
          indices(*descriptor.tensor("OutputIndexTensor")),
          axis(descriptor.uint("Axis")),
          k(descriptor.uint("K")) {
        if (descriptor.has_field("AxisDirection")) {
            direction = enumerator<operators::AxisDirection>(descriptor, "AxisDirection");
        }
    }

    const core::TensorDesc& input;
    const core::TensorDesc& values;
    const core::TensorDesc& indices;
    std::uint32_t axis;
    std::uint32_t k;
    /// Decreasing: the largest elements, largest first.
    operators::AxisDirection direction = operators::AxisDirection::decreasing;
};

}  // namespace dmlconform::d3d12

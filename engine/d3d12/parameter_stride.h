// Parameters of which there is one for each element along a dimension, or one for all: scales, zero points.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/core/tensor_desc.h"

namespace dmlconform::d3d12 {

/// From a parameter to the next along that dimension; 0 where there is one for all, or where the tensor has none.
[[nodiscard]] inline std::uint32_t parameter_stride(const core::TensorDesc* parameters, std::size_t dimension) {
    if (parameters == nullptr || parameters->sizes.size() <= dimension || parameters->sizes[dimension] == 1) {
        return 0;
    }
    return static_cast<std::uint32_t>(core::effective_strides(*parameters)[dimension]);
}

}  // namespace dmlconform::d3d12

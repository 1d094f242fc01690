// Parameters, such as scales and zero points, that have one element per index of a dimension, or a single element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/core/tensor_desc.h"

namespace dmlconform::d3d12 {

/// The stride along that dimension; 0 if there is a single element or no tensor.
[[nodiscard]] inline std::uint32_t parameter_stride(const core::TensorDesc* parameters, std::size_t dimension) {
    if (parameters == nullptr || parameters->sizes.size() <= dimension || parameters->sizes[dimension] == 1) {
        return 0;
    }
    return static_cast<std::uint32_t>(core::effective_strides(*parameters)[dimension]);
}

}  // namespace dmlconform::d3d12

// Elements as FP32 numbers, without a copy if they are contiguous FLOAT32 elements.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/tensor.h"

namespace dmlconform::cpu::reduction {

/// True if elements with this stride are an array of FP32 numbers in memory.
[[nodiscard]] inline bool lie_as_floats(const core::Tensor& tensor, std::int64_t stride) {
    return tensor.desc.data_type == core::DataType::float32 && stride == 1;
}

/// The elements of such a tensor, starting at this address.
[[nodiscard]] inline const float* floats_at(const core::Tensor& tensor, std::int64_t first) {
    return reinterpret_cast<const float*>(tensor.buffer.bytes().data()) + first;
}
[[nodiscard]] inline float* floats_at(core::Tensor& tensor, std::int64_t first) {
    return reinterpret_cast<float*>(tensor.buffer.bytes().data()) + first;
}

/// to.size() elements, `stride` apart, starting at `first`: a pointer into the tensor if they are contiguous FLOAT32
/// numbers, otherwise a pointer to copies in `to`. Supports FLOAT32 and FLOAT16, which FP32 represents exactly.
[[nodiscard]] const float* floats_of(const core::Tensor& tensor, std::int64_t first, std::int64_t stride,
                                     std::span<float> room);

}  // namespace dmlconform::cpu::reduction

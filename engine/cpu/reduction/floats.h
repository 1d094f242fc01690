// Elements as FP32 numbers, without a copy where they lie in memory as such.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/tensor.h"

namespace dmlconform::cpu::reduction {

/// Whether elements that are so far apart are an array of FP32 numbers.
[[nodiscard]] inline bool lie_as_floats(const core::Tensor& tensor, std::int64_t stride) {
    return tensor.desc.data_type == core::DataType::float32 && stride == 1;
}

/// The elements of such a tensor from the one with this address on.
[[nodiscard]] inline const float* floats_at(const core::Tensor& tensor, std::int64_t first) {
    return reinterpret_cast<const float*>(tensor.buffer.bytes().data()) + first;
}
[[nodiscard]] inline float* floats_at(core::Tensor& tensor, std::int64_t first) {
    return reinterpret_cast<float*>(tensor.buffer.bytes().data()) + first;
}

/// As many elements as there is room for, `stride` apart from `first` on: those of the tensor itself if they lie so,
/// otherwise copies. FLOAT32 or FLOAT16, which FP32 holds exactly.
[[nodiscard]] const float* floats_of(const core::Tensor& tensor, std::int64_t first, std::int64_t stride,
                                     std::span<float> room);

}  // namespace dmlconform::cpu::reduction

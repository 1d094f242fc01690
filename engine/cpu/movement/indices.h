// Elements of a tensor that say where: indices, counted from the start or the end of a dimension, and lengths.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/core/tensor.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::movement {

/// Of the types INT32, INT64, UINT32 and UINT64.
class Indices {
public:
    explicit Indices(const core::Tensor& tensor) : tensor_(tensor), strides_(core::signed_strides(tensor.desc)) {}

    /// An index as it stands in the tensor. An unsigned one beyond INT64's range is that range's end: no dimension is
    /// as long.
    [[nodiscard]] std::int64_t at(std::int64_t address) const;
    [[nodiscard]] const core::Strides& strides() const { return strides_; }

private:
    const core::Tensor& tensor_;
    core::Strides strides_;
};

/// Negative indices count from the end, once around.
[[nodiscard]] inline std::int64_t from_start(std::int64_t index, std::int64_t size) {
    return index < 0 ? index + size : index;
}

[[nodiscard]] inline bool is_within(std::int64_t place, std::int64_t size) {
    return place >= 0 && place < size;
}

/// For reading: an index that leads outside takes the element that is nearest along the dimension. DirectML's
/// documentation leaves open which element of the input it is.
[[nodiscard]] inline std::int64_t nearest_within(std::int64_t index, std::int64_t size) {
    return std::clamp<std::int64_t>(from_start(index, size), 0, size - 1);
}

}  // namespace dmlconform::cpu::movement

// Elements of a tensor that say where: indices, counted from the start or the end of a dimension, and lengths.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

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
    /// As many of them as there is room for, `stride` apart.
    void load(std::int64_t first, std::int64_t stride, std::span<std::int64_t> to) const;
    [[nodiscard]] const core::Strides& strides() const { return strides_; }

private:
    const core::Tensor& tensor_;
    core::Strides strides_;
};

/// Calls visit(i, index) for so many indices that lie `stride` apart. They are loaded many at a time.
template <class Visit>
void for_each_index(const Indices& indices, std::int64_t first, std::int64_t stride, std::int64_t count,
                    const Visit& visit) {
    constexpr std::int64_t longest = 256;
    std::array<std::int64_t, longest> loaded;
    for (std::int64_t done = 0; done < count; done += longest) {
        const std::int64_t here = std::min(longest, count - done);
        indices.load(first + done * stride, stride, {loaded.data(), static_cast<std::size_t>(here)});
        for (std::int64_t i = 0; i < here; ++i) {
            visit(done + i, loaded[static_cast<std::size_t>(i)]);
        }
    }
}

/// Strides of a walk that stays where it is along one dimension: the coordinate there comes from an index.
[[nodiscard]] inline core::Strides without(core::Strides strides, std::size_t axis) {
    strides[axis] = 0;
    return strides;
}

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

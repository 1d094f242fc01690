// Index tensors: indices that count from the start or the end of a dimension, and lengths.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "engine/core/tensor.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::movement {

/// The elements of a tensor of type INT32, INT64, UINT32 or UINT64 as signed numbers.
class Indices {
public:
    explicit Indices(const core::Tensor& tensor) : tensor_(tensor), strides_(core::signed_strides(tensor.desc)) {}

    /// The index at an address. A UINT64 beyond INT64's range is clamped; no dimension is that long.
    [[nodiscard]] std::int64_t at(std::int64_t address) const;
    /// Fills `to` with indices that are `stride` elements apart.
    void load(std::int64_t first, std::int64_t stride, std::span<std::int64_t> to) const;
    [[nodiscard]] const core::Strides& strides() const { return strides_; }

private:
    const core::Tensor& tensor_;
    core::Strides strides_;
};

/// Calls visit(i, index) for `count` indices that are `stride` elements apart. They are loaded in batches.
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

/// Sets the stride along one dimension to 0, because the coordinate there comes from an index.
[[nodiscard]] inline core::Strides without(core::Strides strides, std::size_t axis) {
    strides[axis] = 0;
    return strides;
}

/// Adds the size to negative indices, which count from the end.
[[nodiscard]] inline std::int64_t from_start(std::int64_t index, std::int64_t size) {
    return index < 0 ? index + size : index;
}

[[nodiscard]] inline bool is_within(std::int64_t index, std::int64_t size) {
    return index >= 0 && index < size;
}

/// Clamps an index that is out of range, for reading. DirectML's documentation leaves open which element is read.
[[nodiscard]] inline std::int64_t nearest_within(std::int64_t index, std::int64_t size) {
    return std::clamp<std::int64_t>(from_start(index, size), 0, size - 1);
}

}  // namespace dmlconform::cpu::movement

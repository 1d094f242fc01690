// Divides tensors into slices: elements whose coordinates differ only along the reduced dimensions.
//
// Several tensors of the same sizes are divided together. A tensor of size 1 along a dimension is broadcast.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/reduction/floats.h"
#include "engine/cpu/wide_registers.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::reduction {

/// For each dimension, whether it is among the axes.
[[nodiscard]] std::vector<bool> reduced_dimensions(std::span<const std::uint32_t> axes, std::size_t rank);

/// For each dimension, whether the operator reduces it: by its Axes, or the last dimension if it has no such field.
[[nodiscard]] std::vector<bool> axes_or_last_dimension(const operators::Descriptor& descriptor, std::size_t rank);

/// The tensor's strides, with 0 along dimensions of size 1.
[[nodiscard]] core::Strides repeating_strides(const core::TensorDesc& desc);

/// The packed row-major strides for these sizes.
[[nodiscard]] core::Strides numbering_strides(const core::Dimensions& sizes);

/// Slices are numbered in row-major order of the kept coordinates, their elements in that of the reduced ones.
template <std::size_t N>
class Sets {
public:
    using Runs = core::StridedRuns<N>;
    using Offsets = typename Runs::PerArray;

    /// No size may be 0.
    Sets(const core::Dimensions& sizes, const std::vector<bool>& reduced, const std::array<core::Strides, N>& strides)
        : kept_(part_of(sizes, reduced, false), strides), inside_(part_of(sizes, reduced, true), strides) {}

    /// The number of slices, and the number of elements of each.
    [[nodiscard]] std::int64_t count() const { return kept_.run_count() * kept_.run_length(); }
    [[nodiscard]] std::int64_t size() const { return inside_.run_count() * inside_.run_length(); }

    /// Offsets of the first elements of slices.
    [[nodiscard]] const Runs& kept() const { return kept_; }
    /// Offsets of a slice's elements relative to the first.
    [[nodiscard]] const Runs& inside() const { return inside_; }

private:
    static core::Dimensions part_of(core::Dimensions sizes, const std::vector<bool>& reduced, bool which) {
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            sizes[d] = reduced[d] == which ? sizes[d] : 1;
        }
        return sizes;
    }

    Runs kept_;
    Runs inside_;
};

/// to.size() elements, `stride` apart, starting at `first`: a pointer into the tensor if they have this number type,
/// otherwise a pointer to copies. float supports only FLOAT32 and FLOAT16.
template <class Number>
[[nodiscard]] const Number* numbers_at(const core::Tensor& tensor, std::int64_t first, std::int64_t stride,
                                       std::span<Number> room) {
    if constexpr (std::is_same_v<Number, float>) {
        return floats_of(tensor, first, stride, room);
    } else {
        element_wise::load(tensor.buffer.bytes(), {tensor.desc.data_type, first, stride}, room.size(), room.data());
        return room.data();
    }
}

/// Calls visit(numbers) for consecutive segments of a slice of the tensor, which is array `A` of the iteration. `start`
/// is the offset of the slice there.
template <std::size_t A, class Number, std::size_t N, class Visit>
void for_each_segment(const Sets<N>& sets, const core::Tensor& tensor, std::int64_t start, const Visit& visit) {
    constexpr std::int64_t longest = 512;
    alignas(register_bytes) std::array<Number, longest> copies;
    const auto& inside = sets.inside();
    const std::int64_t stride = inside.run_strides()[A];
    inside.for_each_run([&](const auto& offsets) {
        const std::int64_t first = start + offsets[A];
        if constexpr (std::is_same_v<Number, float>) {
            if (lie_as_floats(tensor, stride)) {
                visit(std::span(floats_at(tensor, first), static_cast<std::size_t>(inside.run_length())));
                return;
            }
        }
        for (std::int64_t i = 0; i < inside.run_length(); i += longest) {
            const auto count = static_cast<std::size_t>(std::min(longest, inside.run_length() - i));
            const std::span<Number> room(copies.data(), count);
            visit(std::span<const Number>(numbers_at(tensor, first + i * stride, stride, room), count));
        }
    });
}

}  // namespace dmlconform::cpu::reduction

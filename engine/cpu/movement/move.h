// The common core of movement operators: for each element of the output, the address of the input element that it
// copies, or `nowhere`, where a constant is written.
//
//   Move        each coordinate contributes to the address independently: windows, slices, blocks, padding,
//               copies, rows selected by a list of indices
//   move_each   the address is computed for each element
//
// Elements are copied as bits.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/parallel.h"

namespace dmlconform::cpu::movement {

/// The address of an element that is not copied from the input.
inline constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::min();

/// A dimension of the output, and what each coordinate contributes to the source address.
struct Axis {
    std::int64_t size = 1;
    std::int64_t to_stride = 0;
    /// Contribution per step along the dimension, if there are no offsets.
    std::int64_t from_stride = 0;
    /// Contribution of each coordinate. `nowhere`: the constant is written.
    std::vector<std::int64_t> offsets = {};
    /// Contributions to the target address, instead of to_stride.
    std::vector<std::int64_t> to_offsets = {};
};

/// A copy of elements. Addresses are in elements from the start of each tensor.
struct Move {
    /// May be null if only the constant is written.
    const core::Tensor* from = nullptr;
    core::Tensor* to = nullptr;
    std::int64_t from_start = 0;
    std::int64_t to_start = 0;
    std::vector<Axis> axes;
    /// The bits of the constant that is written at addresses of `nowhere`.
    std::uint64_t constant = 0;
};

void carry_out(Move move);

/// A move from the first input to the first output, with the output's dimensions.
[[nodiscard]] Move first_to_first(const KernelArguments& arguments);

/// Copies the first input to the first output, which has the same sizes.
[[nodiscard]] Move all_of_first(const KernelArguments& arguments);

/// A kernel for an operator that consists of a single move.
[[nodiscard]] Kernel moving(std::string_view name, Move (*move)(const KernelArguments& arguments));

/// The dimensions of an output with its strides. The caller sets the contributions to the source address.
[[nodiscard]] std::vector<Axis> axes_of(const core::TensorDesc& output);

using Coordinates = std::span<const std::int64_t>;

/// The address of coordinates in a tensor with these strides. The tensor may have more dimensions.
[[nodiscard]] inline std::int64_t address_of(Coordinates coordinates, const core::Strides& strides) {
    std::int64_t address = 0;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
        address += coordinates[d] * strides[d];
    }
    return address;
}

/// Iterates over a range of rows of a tensor. A row is along the last dimension.
class Rows {
public:
    explicit Rows(const core::TensorDesc& desc);

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] std::int64_t length() const { return sizes_.back(); }

    /// Calls visit(coordinates, address, number) for the first element of each of the rows first … last - 1.
    template <class Visit>
    void for_each_row(std::int64_t first, std::int64_t last, Visit&& visit) const {
        std::vector<std::int64_t> coordinates(sizes_.size());
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t address = start_of(row, coordinates);
            visit(Coordinates(coordinates), address, row * length());
        }
    }

    /// Calls visit(coordinates, address, number) for each element of the rows first … last - 1. `number` is its
    /// row-major index.
    template <class Visit>
    void for_each(std::int64_t first, std::int64_t last, Visit&& visit) const {
        std::vector<std::int64_t> coordinates(sizes_.size());
        for (std::int64_t row = first; row < last; ++row) {
            std::int64_t address = start_of(row, coordinates);
            for (std::int64_t& x = coordinates.back(); x < length(); ++x) {
                visit(Coordinates(coordinates), address, row * length() + x);
                address += strides_.back();
            }
        }
    }

private:
    /// Sets the coordinates of the row's first element and returns its address.
    std::int64_t start_of(std::int64_t row, std::vector<std::int64_t>& coordinates) const;

    std::vector<std::int64_t> sizes_;
    core::Strides strides_;
    std::int64_t count_ = 1;
};

/// Calls use.template operator()<Element>() with the unsigned type that is as wide as the data type.
template <class Use>
void with_width(core::DataType type, Use&& use) {
    switch (core::bytes_of(type)) {
        case 1:
            return use.template operator()<std::uint8_t>();
        case 2:
            return use.template operator()<std::uint16_t>();
        case 4:
            return use.template operator()<std::uint32_t>();
        default:
            return use.template operator()<std::uint64_t>();
    }
}

/// Copies to each element of `to` the element of `from` at the address source(coordinates), or the constant.
template <class Source>
void move_each(const core::Tensor& from, core::Tensor& to, std::uint64_t constant, const Source& source) {
    const Rows rows(to.desc);
    with_width(to.desc.data_type, [&]<class Element>() {
        const Element* const read = from.as<Element>().data();
        Element* const written = to.as<Element>().data();
        parallel_for(rows.count(), 8 * rows.length(), [&](std::int64_t first, std::int64_t last) {
            rows.for_each(first, last, [&](Coordinates coordinates, std::int64_t address, std::int64_t /*number*/) {
                const std::int64_t at = source(coordinates);
                written[address] = at == nowhere ? static_cast<Element>(constant) : read[at];
            });
        });
    });
}

}  // namespace dmlconform::cpu::movement

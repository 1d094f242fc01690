// What movement operators are made of: for each place of an output the place of an input that its element comes from,
// or none, where a constant is written.
//
//   Move    each coordinate adds to the address by itself, whatever the others are: windows, parts, blocks, padding,
//           copies, rows that a list of indices picks
//   move_each   the place is worked out for each element
//
// Elements are moved as bits, by their width.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/parallel.h"

namespace dmlconform::cpu::movement {

/// The place of an element that comes from no input.
inline constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::min();

/// A dimension of what is written, and what a coordinate along it adds to the address that is read.
struct Axis {
    std::int64_t size = 1;
    std::int64_t to_stride = 0;
    /// Added for each step along the dimension, if there are no offsets.
    std::int64_t from_stride = 0;
    /// Added for each coordinate. `nowhere`: what is written there is the constant.
    std::vector<std::int64_t> offsets = {};
    /// The same for the address that is written, in the place of to_stride.
    std::vector<std::int64_t> to_offsets = {};
};

/// Addresses are in elements, from the tensors' starts.
struct Move {
    /// May be null if all that is written is the constant.
    const core::Tensor* from = nullptr;
    core::Tensor* to = nullptr;
    std::int64_t from_start = 0;
    std::int64_t to_start = 0;
    std::vector<Axis> axes;
    /// The bits of the constant.
    std::uint64_t constant = 0;
};

void carry_out(Move move);

/// The first input to the first output, whose dimensions the move has.
[[nodiscard]] Move first_to_first(const KernelArguments& arguments);

/// All of the first input to the first output, which has the same sizes.
[[nodiscard]] Move all_of_first(const KernelArguments& arguments);

/// A row for an operator that is one move.
[[nodiscard]] Kernel moving(std::string_view name, Move (*move)(const KernelArguments& arguments));

/// The dimensions of an output, with its strides. What coordinates add to the address that is read is left to be said.
[[nodiscard]] std::vector<Axis> axes_of(const core::TensorDesc& output);

using Coordinates = std::span<const std::int64_t>;

/// The address of a place in a tensor of these strides, which may have more dimensions.
[[nodiscard]] inline std::int64_t address_of(Coordinates place, const core::Strides& strides) {
    std::int64_t address = 0;
    for (std::size_t d = 0; d < place.size(); ++d) {
        address += place[d] * strides[d];
    }
    return address;
}

/// Walks the coordinates of a tensor row by row, from one row to another.
class Rows {
public:
    explicit Rows(const core::TensorDesc& desc);

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] std::int64_t length() const { return sizes_.back(); }

    /// Calls visit(coordinates, address, number) for the first elements of rows first … last - 1.
    template <class Visit>
    void for_each_row(std::int64_t first, std::int64_t last, Visit&& visit) const {
        std::vector<std::int64_t> coordinates(sizes_.size());
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t address = start_of(row, coordinates);
            visit(Coordinates(coordinates), address, row * length());
        }
    }

    /// Calls visit(coordinates, address, number) for the elements of rows first … last - 1, where number is row-major.
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

/// Calls use.template operator()<Element>() with the unsigned type of a data type's width.
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

/// For each place of `to` the element of `from` at the address source(coordinates), or the constant.
template <class Source>
void move_each(const core::Tensor& from, core::Tensor& to, std::uint64_t constant, const Source& source) {
    const Rows rows(to.desc);
    with_width(to.desc.data_type, [&]<class Element>() {
        const Element* const read = from.as<Element>().data();
        Element* const written = to.as<Element>().data();
        parallel_for(rows.count(), 8 * rows.length(), [&](std::int64_t first, std::int64_t last) {
            rows.for_each(first, last, [&](Coordinates place, std::int64_t address, std::int64_t /*number*/) {
                const std::int64_t at = source(place);
                written[address] = at == nowhere ? static_cast<Element>(constant) : read[at];
            });
        });
    });
}

}  // namespace dmlconform::cpu::movement

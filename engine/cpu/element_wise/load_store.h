// Moves segments of elements between tensors and arrays of the number types that formulas use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/data_type.h"
#include "engine/cpu/element_wise/row.h"

namespace dmlconform::cpu::element_wise {

/// `count` elements of a tensor, starting at element `first`, with a distance of `stride`; all in elements.
struct Segment {
    core::DataType type = core::DataType::unknown;
    std::int64_t first = 0;
    std::int64_t stride = 0;
};

// Loads `count` elements: as doubles (64-bit integers are rounded), as integers, or as bits.
void load(std::span<const std::byte> memory, const Segment& from, std::size_t count, double* to);
void load(std::span<const std::byte> memory, const Segment& from, std::size_t count, Signed* to);
void load(std::span<const std::byte> memory, const Segment& from, std::size_t count, Unsigned* to);
void load_bits(std::span<const std::byte> memory, const Segment& from, std::size_t count, Unsigned* to);

// Stores results in the tensor's type. Floating-point types round to nearest even; `store` says how integer types
// convert. Other threads may store elements in other bytes at the same time.
void store(std::span<std::byte> memory, const Segment& to, std::size_t count, const double* from, Store how);
void store(std::span<std::byte> memory, const Segment& to, std::size_t count, const Signed* from, Store how);
void store(std::span<std::byte> memory, const Segment& to, std::size_t count, const Unsigned* from, Store how);
void store_bits(std::span<std::byte> memory, const Segment& to, std::size_t count, const Unsigned* from);

/// The number that `store` stores for a real number in an output of that type.
[[nodiscard]] double stored_value(core::DataType type, double value, Store how);

/// The numbers that an implementation may store for results in the interval: FP32 results unchanged, FLOAT16 rounded to
/// nearest or towards zero, because Direct3D allows both, and integers as stored_value.
[[nodiscard]] Interval stored_range(core::DataType type, const Interval& results, Store how);

/// An intermediate result that implementations may store as an element of that type, or keep in FP32.
[[nodiscard]] Interval maybe_stored(core::DataType type, const Interval& result, Store how);

}  // namespace dmlconform::cpu::element_wise

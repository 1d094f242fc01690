// Moving stretches of elements between tensors and arrays of the numbers that formulas compute with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/data_type.h"
#include "engine/cpu/element_wise/row.h"

namespace dmlconform::cpu::element_wise {

/// `count` elements of a tensor's memory, `stride` apart from the one with this number on; all counted in elements.
struct Stretch {
    core::DataType type = core::DataType::unknown;
    std::int64_t first = 0;
    std::int64_t stride = 0;
};

// Loads `count` elements: values as doubles (64-bit integers rounded), values as integers, or the bits.
void load(std::span<const std::byte> memory, const Stretch& from, std::size_t count, double* to);
void load(std::span<const std::byte> memory, const Stretch& from, std::size_t count, Signed* to);
void load(std::span<const std::byte> memory, const Stretch& from, std::size_t count, Unsigned* to);
void load_bits(std::span<const std::byte> memory, const Stretch& from, std::size_t count, Unsigned* to);

// Stores results in the tensor's type. Floating-point types round to nearest even; integer types as `store` says.
// Other threads may store elements of other bytes.
void store(std::span<std::byte> memory, const Stretch& to, std::size_t count, const double* from, Store how);
void store(std::span<std::byte> memory, const Stretch& to, std::size_t count, const Signed* from, Store how);
void store(std::span<std::byte> memory, const Stretch& to, std::size_t count, const Unsigned* from, Store how);
void store_bits(std::span<std::byte> memory, const Stretch& to, std::size_t count, const Unsigned* from);

/// What `store` makes of a real number, for an output of that type.
[[nodiscard]] double stored_value(core::DataType type, double value, Store how);

/// The numbers that an implementation may store for the results in the interval: FP32 results as they are, FLOAT16
/// rounded to nearest or towards zero, which Direct3D leaves open, integers as stored_value.
[[nodiscard]] Interval stored_range(core::DataType type, const Interval& results, Store how);

}  // namespace dmlconform::cpu::element_wise

// Single elements of tensors as bits: reading, writing, converting and printing them, whatever their type.
//
// For the few elements that people write and see. Kernels and comparisons work on typed arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/core/data_type.h"
#include "engine/core/error.h"

namespace dmlconform::core {

/// An integer that may need all 64 bits and a sign.
struct Integer {
    bool negative = false;
    std::uint64_t magnitude = 0;
};

/// The element at `index` (in elements from the start), its bits in the low end of the result.
[[nodiscard]] std::uint64_t load_element(std::span<const std::byte> storage, DataType type, std::uint64_t index);
void store_element(std::span<std::byte> storage, DataType type, std::uint64_t index, std::uint64_t bits);

/// Converts to the type's bits. Floating-point types round to nearest; a finite value beyond the type's range is an
/// error, and so is an integer that an integer type does not hold, or a fraction for an integer type.
[[nodiscard]] Result<std::uint64_t> encode_element(DataType type, double value);
[[nodiscard]] Result<std::uint64_t> encode_element(DataType type, Integer value);

/// The value; 64-bit integers are rounded.
[[nodiscard]] double decode_element(DataType type, std::uint64_t bits);

/// The value in decimal, enough digits to tell it from its neighbours.
[[nodiscard]] std::string format_element(DataType type, std::uint64_t bits);

/// The bits in hexadecimal, padded to the type's width: "0x3f800000".
[[nodiscard]] std::string format_bits(DataType type, std::uint64_t bits);

/// "-128 to 127" for INT8: for messages.
[[nodiscard]] std::string range_of(DataType type);

}  // namespace dmlconform::core

// Reads, writes, converts and prints single tensor elements of any type, as bits.
//
// Meant for the few elements that people write and see. Kernels and comparisons work on typed arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/core/data_type.h"
#include "engine/core/error.h"

namespace dmlconform::core {

/// A 64-bit magnitude with a sign, which covers INT64 and UINT64.
struct Integer {
    bool negative = false;
    std::uint64_t magnitude = 0;
};

/// Loads the element at `index`, which counts elements from the start. Its bits are in the low end of the result.
[[nodiscard]] std::uint64_t load_element(std::span<const std::byte> storage, DataType type, std::uint64_t index);
void store_element(std::span<std::byte> storage, DataType type, std::uint64_t index, std::uint64_t bits);

/// Converts a number to the type's bits. Floating-point types round to nearest. Fails if a finite value is out of the
/// type's range, or if an integer type cannot represent it exactly.
[[nodiscard]] Result<std::uint64_t> encode_element(DataType type, double value);
[[nodiscard]] Result<std::uint64_t> encode_element(DataType type, Integer value);

/// Converts bits to a number; 64-bit integers are rounded.
[[nodiscard]] double decode_element(DataType type, std::uint64_t bits);

/// Prints the value in decimal, with enough digits to distinguish it from its neighbours.
[[nodiscard]] std::string format_element(DataType type, std::uint64_t bits);

/// Prints the bits in hexadecimal, padded to the type's width: "0x3f800000".
[[nodiscard]] std::string format_bits(DataType type, std::uint64_t bits);

/// The type's range for messages: "-128 to 127" for INT8.
[[nodiscard]] std::string range_of(DataType type);

}  // namespace dmlconform::core

// A common parser for the numbers of all options. CLI11's parser accepts "nan", converts -1 to 2^64 - 1, and 010 to 8.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "app/command_line.h"

namespace dmlconform::app {

/// Parses an integer of decimal digits only; empty for other texts.
[[nodiscard]] std::optional<std::uint64_t> parse_whole_number(std::string_view text);

/// Parses a finite number: 0.5, 10, 1e-3.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// Parses a size in bytes: 1000, 64K, 256M, 2G; B or iB may follow the letter. Units are powers of 1024. Empty if the
/// size exceeds 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// For Option::transform: accepts only integers in that range.
[[nodiscard]] ValueRule whole_number(std::uint64_t least = 0,
                                     std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// The same for numbers with a fraction.
[[nodiscard]] ValueRule number(double least, double most);

/// The same for sizes in bytes, which it converts to plain numbers.
[[nodiscard]] ValueRule size_in_bytes();

}  // namespace dmlconform::app

// Numbers on the command line: one way to read them, for all options. CLI11's own takes "nan", makes 2^64 - 1 of -1,
// and 8 of 010.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "app/command_line.h"

namespace dmlconform::app {

/// The number if the text is one: decimal digits, and nothing else.
[[nodiscard]] std::optional<std::uint64_t> parse_whole_number(std::string_view text);

/// The number if the text is one that is finite: 0.5, 10, 1e-3.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// Bytes: 1000, 64K, 256M, 2G; B or iB may follow the letter. Units are powers of 1024. Nothing for what does not fit
/// 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// For Option::transform: refuses whatever is not a whole number in that range.
[[nodiscard]] ValueRule whole_number(std::uint64_t least = 0,
                                     std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// The same for numbers with a fraction.
[[nodiscard]] ValueRule number(double least, double most);

/// The same for sizes in bytes, which become plain numbers.
[[nodiscard]] ValueRule size_in_bytes();

}  // namespace dmlconform::app

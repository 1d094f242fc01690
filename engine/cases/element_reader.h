// Reads one element of a tensor in a case file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cases/json_document.h"
#include "engine/core/data_type.h"
#include "engine/core/element.h"
#include "engine/core/error.h"

namespace dmlconform::cases {

/// Reads a number, "nan", "inf", "-inf", or "0x…" for the bits. Returns the element's bits.
[[nodiscard]] core::Result<std::uint64_t> read_element(const JsonValue& value, core::DataType type);

/// True for -0.0, also as bits, and not for a negative number that is too small for the type. `bits` are those of
/// read_element.
[[nodiscard]] bool spells_negative_zero(const JsonValue& value, core::DataType type, std::uint64_t bits);

/// The value as an integer. A point or an exponent is allowed if the value is exact, which means below 2^53. Empty
/// otherwise.
[[nodiscard]] std::optional<core::Integer> integer_of(const JsonValue& value);

/// The value of any number; empty for other values.
[[nodiscard]] std::optional<double> number_of(const JsonValue& value);

/// The number as text for messages, without digits that were lost in parsing.
[[nodiscard]] std::string number_text(const JsonValue& value);

}  // namespace dmlconform::cases

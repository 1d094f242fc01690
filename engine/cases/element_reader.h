// One element of a tensor as it is written in a case file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cases/json_document.h"
#include "engine/core/data_type.h"
#include "engine/core/element.h"
#include "engine/core/error.h"

namespace dmlconform::cases {

/// A number, "nan", "inf", "-inf", or "0x…" for the element's bits. The result are the bits.
[[nodiscard]] core::Result<std::uint64_t> read_element(const JsonValue& value, core::DataType type);

/// The value when it is an integer, also one written with a point or an exponent as long as that is exact: below 2^53.
[[nodiscard]] std::optional<core::Integer> integer_of(const JsonValue& value);

/// The value of a number of any kind.
[[nodiscard]] std::optional<double> number_of(const JsonValue& value);

/// A number for messages: as it would be written, but for what was lost when it was read.
[[nodiscard]] std::string number_text(const JsonValue& value);

}  // namespace dmlconform::cases

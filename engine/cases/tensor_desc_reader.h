// Reads tensor descriptors in case files: the members of DML_BUFFER_TENSOR_DESC.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/core/tensor_desc.h"

namespace dmlconform::cases {

/// Reads {"DataType": …, "Sizes": …, …}, or the long form {"Type": "BUFFER", "Desc": …}.
[[nodiscard]] std::optional<core::TensorDesc> read_tensor_desc(const JsonValue& value, ProblemSink& problems);

/// Reads an array of unsigned 32-bit integers.
[[nodiscard]] std::optional<core::Dimensions> read_dimensions(const JsonValue& value, std::string_view name,
                                                              ProblemSink& problems);

/// The largest UINT.
inline constexpr std::uint64_t largest_uint = std::numeric_limits<std::uint32_t>::max();

/// Reads an unsigned integer of at most `largest`.
[[nodiscard]] std::optional<std::uint64_t> read_unsigned(const JsonValue& value, std::string_view name,
                                                         std::uint64_t largest, ProblemSink& problems);

/// Reports each member whose key is not allowed; returns true if there is none.
bool check_keys(const JsonValue& object, std::span<const std::string> allowed, std::string_view what,
                ProblemSink& problems);

}  // namespace dmlconform::cases

// Reads tensor descriptors in case files: the members of DML_BUFFER_TENSOR_DESC.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/core/tensor_desc.h"

namespace dmlconform::cases {

/// Reads {"DataType": …, "Sizes": …, …}, or the long form {"Type": "BUFFER", "Desc": …}.
[[nodiscard]] std::optional<core::TensorDesc> read_tensor_desc(const JsonValue& value, ProblemSink& problems);

/// What messages call a value: a field, or an item of one. The text is only made for a message, since most values have
/// no problem.
class ValueName {
public:
    template <std::convertible_to<std::string_view> Text>
    ValueName(const Text& field) : field_(field) {}
    ValueName(std::string_view array, std::size_t item) : field_(array), item_(item) {}
    [[nodiscard]] std::string text() const;

private:
    std::string_view field_;
    std::optional<std::size_t> item_;
};

/// Reads an array of unsigned 32-bit integers.
[[nodiscard]] std::optional<core::Dimensions> read_dimensions(const JsonValue& value, std::string_view name,
                                                              ProblemSink& problems);

/// The largest UINT.
inline constexpr std::uint64_t largest_uint = std::numeric_limits<std::uint32_t>::max();

/// Reads an unsigned integer of at most `largest`.
[[nodiscard]] std::optional<std::uint64_t> read_unsigned(const JsonValue& value, const ValueName& name,
                                                         std::uint64_t largest, ProblemSink& problems);

/// Reports each member whose key is not allowed; returns true if there is none.
bool check_keys(const JsonValue& object, std::span<const std::string> allowed, std::string_view what,
                ProblemSink& problems);

}  // namespace dmlconform::cases

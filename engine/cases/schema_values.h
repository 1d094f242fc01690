// JSON Schema of values in case files, from which the schema of case files is assembled.
//
// Any value can be replaced by a placeholder of a sweep: "${name}". Schemas list types instead of alternatives, so that
// validators report a mistake at the value and say what is wrong.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dmlconform::cases {

using Schema = nlohmann::ordered_json;

/// Whether null is accepted. It stands for a null pointer, which only descriptors that must be rejected have.
enum class Nullable : std::uint8_t { no, yes };

/// A reference to the definition with that name.
[[nodiscard]] Schema reference(std::string_view name);

/// Accepts an integer within these bounds.
[[nodiscard]] Schema integer_value(std::int64_t least, std::uint64_t most, Nullable nullable = Nullable::no);

/// Accepts a number, "inf", "nan", and hexadecimal bits.
[[nodiscard]] Schema number_value(Nullable nullable = Nullable::no);

/// Accepts a number of at least 0.
[[nodiscard]] Schema bound_value();

[[nodiscard]] Schema array_value(Schema items, Nullable nullable = Nullable::no);

/// Accepts an object that matches `schema`.
[[nodiscard]] Schema object_value(const Schema& schema, Nullable nullable = Nullable::no);

/// Accepts an object with these members and no others.
[[nodiscard]] Schema members(Schema properties, const std::vector<std::string>& required = {});

/// Accepts the names, with and without the prefix, and what `others` accepts unless it is null.
[[nodiscard]] Schema name_value(std::string_view prefix, const std::vector<std::string>& names,
                                Schema others = nullptr);

/// Requires `consequence` if `condition` holds.
[[nodiscard]] Schema when(Schema condition, Schema consequence, Schema otherwise = nullptr);

/// Adds a description that editors show.
[[nodiscard]] Schema described(std::string_view description, const Schema& schema);

}  // namespace dmlconform::cases

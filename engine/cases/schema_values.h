// Values of case files in JSON Schema: pieces that the schema of case files is put together from.
//
// Wherever a value may stand, a sweep's placeholder may stand in its place: "${name}". A value's schema lists the types
// that it may have, and no alternatives, so that a validator reports a mistake at the value and says what is wrong.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dmlconform::cases {

using Schema = nlohmann::ordered_json;

/// Whether null, which is a pointer that a descriptor has only to be rejected, is a value.
enum class Nullable : std::uint8_t { no, yes };

/// The definition of that name.
[[nodiscard]] Schema reference(std::string_view name);

/// An integer within these bounds.
[[nodiscard]] Schema integer_value(std::int64_t least, std::uint64_t most, Nullable nullable = Nullable::no);

/// A number; also "inf", "nan" and hexadecimal bits.
[[nodiscard]] Schema number_value(Nullable nullable = Nullable::no);

/// A number of at least 0.
[[nodiscard]] Schema bound_value();

[[nodiscard]] Schema array_value(Schema items, Nullable nullable = Nullable::no);

/// An object that `schema` describes further.
[[nodiscard]] Schema object_value(const Schema& schema, Nullable nullable = Nullable::no);

/// An object with these members and no others.
[[nodiscard]] Schema members(Schema properties, const std::vector<std::string>& required = {});

/// One of the names, with and without the prefix; also what `others` describes, if it is not null.
[[nodiscard]] Schema name_value(std::string_view prefix, const std::vector<std::string>& names,
                                Schema others = nullptr);

/// Where `condition` holds, `consequence` holds too.
[[nodiscard]] Schema when(Schema condition, Schema consequence, Schema otherwise = nullptr);

/// What editors show for it.
[[nodiscard]] Schema described(std::string_view description, const Schema& schema);

}  // namespace dmlconform::cases

// A JSON file in memory with the place of every value, so that an error can say where it is.
//
// Parsing is nlohmann-json's; what is kept here is what its own document forgets: offsets, the order of keys, duplicate
// keys and the difference between an integer and a number with a fraction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::cases {

struct JsonMember;

/// What became an integer by being rounded: 4e-400, 2.00000000000000000001. It does not count where an integer is
/// wanted.
struct RoundedNumber {
    double value = 0;
};

class JsonValue {
public:
    using Array = std::vector<JsonValue>;
    using Object = std::vector<JsonMember>;
    using Content =
        std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, RoundedNumber,
                     std::shared_ptr<const std::string>, std::shared_ptr<const Array>, std::shared_ptr<const Object>>;

    JsonValue() = default;
    JsonValue(std::size_t where, Content what) : offset(where), content(std::move(what)) {}

    /// Byte offset in the file where the value starts.
    std::size_t offset = 0;
    Content content;

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(content); }
    [[nodiscard]] bool is_number() const;
    /// A number with a fraction or an exponent, or one that an integer of 64 bits does not hold.
    [[nodiscard]] std::optional<double> floating() const;
    /// Each null unless the value is of that kind.
    [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&content); }
    [[nodiscard]] const std::string* string() const;
    [[nodiscard]] const Array* array() const;
    [[nodiscard]] const Object* object() const;
    /// The member's value; null when there is none or this is no object.
    [[nodiscard]] const JsonValue* find(std::string_view key) const;
    /// "a string", "an array", …: for messages.
    [[nodiscard]] std::string_view kind_name() const;
};

struct JsonMember {
    std::string key;
    std::size_t key_offset = 0;
    JsonValue value;
};

/// An object's members by key, for whoever looks up many of many. The object must outlive it.
using JsonIndex = std::unordered_map<std::string_view, const JsonValue*>;
[[nodiscard]] JsonIndex index_of(const JsonValue& object);

/// A place in a file, for people: line and column from 1, the column in bytes.
struct Position {
    std::size_t line = 1;
    std::size_t column = 1;
};

struct JsonError {
    std::size_t offset = 0;
    core::Error error;
};

/// Where in `text` an offset is.
[[nodiscard]] Position position_of(std::string_view text, std::size_t offset);

/// Parses one JSON document with comments allowed. Refuses duplicate keys, more than 64 levels of nesting, and text
/// that is not UTF-8.
[[nodiscard]] tl::expected<JsonValue, JsonError> parse_json(std::string_view text);

/// The JSON pointer (RFC 6901) of the innermost value or key at `offset`; "" for the document itself. The document is
/// as it was parsed: what is merged is not in the order of its places.
[[nodiscard]] std::string pointer_to(const JsonValue& document, std::size_t offset);

/// `overlay` merged over `base`: objects member by member, everything else replaced. Values keep their offsets.
[[nodiscard]] JsonValue merged(const JsonValue& base, const JsonValue& overlay);

}  // namespace dmlconform::cases

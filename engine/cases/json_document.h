// A JSON document with the offset of every value, so that messages can point at it.
//
// nlohmann-json parses the text. This document keeps what nlohmann's own document loses: offsets, the order of keys,
// duplicate keys, and whether a number was written with a fraction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::cases {

struct JsonMember;

/// A number that became an integer by rounding, such as 4e-400 or 2.00000000000000000001. It is not accepted as an
/// integer.
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
    /// True for null, a boolean and a number.
    [[nodiscard]] bool is_plain() const { return string() == nullptr && array() == nullptr && object() == nullptr; }
    /// The value of a number that was written with a fraction or an exponent, or that does not fit 64 bits. Otherwise
    /// empty.
    [[nodiscard]] std::optional<double> floating() const;
    /// These accessors return null unless the value is of that kind.
    [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&content); }
    [[nodiscard]] const std::string* string() const;
    [[nodiscard]] const Array* array() const;
    [[nodiscard]] const Object* object() const;
    /// The value of a member; null if there is none or if this is not an object.
    [[nodiscard]] const JsonValue* find(std::string_view key) const;
    /// For messages: "a string", "an array", …
    [[nodiscard]] std::string_view kind_name() const;
};

struct JsonMember {
    std::string key;
    std::size_t key_offset = 0;
    JsonValue value;
};

/// An object's members by key, for many look-ups in a large object. The object must outlive it.
using JsonIndex = std::unordered_map<std::string_view, const JsonValue*>;
[[nodiscard]] JsonIndex index_of(const JsonValue& object);

/// A position in a file for messages: line and column start at 1, the column counts bytes.
struct Position {
    std::size_t line = 1;
    std::size_t column = 1;
};

struct JsonError {
    std::size_t offset = 0;
    core::Error error;
};

/// Converts an offset in `text` to a line and column.
[[nodiscard]] Position position_of(std::string_view text, std::size_t offset);

/// Parses a JSON document, in which comments are allowed. Rejects duplicate keys, more than 64 levels of nesting, and
/// text that is not UTF-8.
[[nodiscard]] tl::expected<JsonValue, JsonError> parse_json(std::string_view text);

/// The JSON pointer (RFC 6901) of the innermost value or key at `offset`; "" for the document itself. The document must
/// be unmerged, because merging changes the order of offsets.
[[nodiscard]] std::string pointer_to(const JsonValue& document, std::size_t offset);

/// The same array or object with change(value) for each of its values; any other value as it is.
template <class Change>
[[nodiscard]] JsonValue with_changed_values(const JsonValue& value, const Change& change) {
    if (const JsonValue::Array* items = value.array()) {
        JsonValue::Array changed;
        changed.reserve(items->size());
        for (const JsonValue& item : *items) {
            changed.push_back(change(item));
        }
        return {value.offset, std::make_shared<const JsonValue::Array>(std::move(changed))};
    }
    if (const JsonValue::Object* members = value.object()) {
        JsonValue::Object changed;
        changed.reserve(members->size());
        for (const JsonMember& member : *members) {
            changed.push_back({member.key, member.key_offset, change(member.value)});
        }
        return {value.offset, std::make_shared<const JsonValue::Object>(std::move(changed))};
    }
    return value;
}

/// The same value, of which nothing is shared with the original but long lists of plain values. Threads that copy parts
/// of one value wait for each other where they count references.
[[nodiscard]] JsonValue unshared(const JsonValue& value);

/// Merges `overlay` over `base`: objects member by member, all other values replaced. Values keep their offsets.
[[nodiscard]] JsonValue merged(const JsonValue& base, const JsonValue& overlay);

}  // namespace dmlconform::cases

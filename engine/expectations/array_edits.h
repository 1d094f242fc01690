// Edits arrays in a JSON text with comments. Everything else stays unchanged, byte for byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/json_document.h"

namespace dmlconform::expectations {

/// Collects changes to a text that parse_json has accepted, and applies them together.
class ArrayEdits {
public:
    explicit ArrayEdits(std::string_view text) : text_(text), removed_(text.size(), false) {}

    /// Removes elements from an array, each with its comma. Lines that become empty are removed; comments outside of
    /// the elements stay. `remove` has a flag for each element.
    void remove(const cases::JsonValue& array, const std::vector<bool>& remove);
    /// Replaces the text of a value.
    void replace(const cases::JsonValue& value, const std::string& with);
    /// Appends elements to an array. `remove` has the flags of its removed elements. The new lines are indented like
    /// the array's elements.
    void append(const cases::JsonValue& array, const std::vector<bool>& remove,
                const std::vector<std::string>& elements);

    [[nodiscard]] std::string text() const;

private:
    struct Insertion {
        std::size_t at;
        std::string text;
    };

    [[nodiscard]] std::size_t end_of(const cases::JsonValue& value) const;
    /// The offset of the comma between two offsets.
    [[nodiscard]] std::size_t comma(std::size_t from, std::size_t to) const;
    [[nodiscard]] std::string indentation_at(std::size_t offset) const;
    [[nodiscard]] std::string line_end() const;
    void cut(std::size_t from, std::size_t to);

    std::string_view text_;
    std::vector<bool> removed_;
    std::vector<Insertion> insertions_;
};

}  // namespace dmlconform::expectations

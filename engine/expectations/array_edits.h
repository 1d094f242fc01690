// Changes to arrays in a JSON text with comments, which leave everything else as it is, byte for byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/json_document.h"

namespace dmlconform::expectations {

/// Collects changes to a text that parse_json has accepted, and makes them all at once.
class ArrayEdits {
public:
    explicit ArrayEdits(std::string_view text) : text_(text), removed_(text.size(), false) {}

    /// Takes elements out of an array, each with a comma. Lines that have nothing else are gone then; comments outside
    /// of the elements stay. `remove` has a flag for each element.
    void remove(const cases::JsonValue& array, const std::vector<bool>& remove);
    /// Puts other text in the place of a value.
    void replace(const cases::JsonValue& value, const std::string& with);
    /// Puts elements at the end of an array, of which `remove` is what was taken out. Lines of the elements are
    /// indented as the array's other elements are.
    void append(const cases::JsonValue& array, const std::vector<bool>& remove,
                const std::vector<std::string>& elements);

    [[nodiscard]] std::string text() const;

private:
    struct Insertion {
        std::size_t at;
        std::string text;
    };

    [[nodiscard]] std::size_t end_of(const cases::JsonValue& value) const;
    /// The comma between two offsets.
    [[nodiscard]] std::size_t comma(std::size_t from, std::size_t to) const;
    [[nodiscard]] std::string indentation_at(std::size_t offset) const;
    [[nodiscard]] std::string line_end() const;
    void cut(std::size_t from, std::size_t to);

    std::string_view text_;
    std::vector<bool> removed_;
    std::vector<Insertion> insertions_;
};

}  // namespace dmlconform::expectations

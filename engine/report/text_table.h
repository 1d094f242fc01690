// Tables for terminals with a maximum width. Columns are as wide as their contents; columns of zeros are omitted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/report/console_style.h"

namespace dmlconform::report {

class TextTable {
public:
    /// Creates a table with text columns on the left. They are shortened if the table is too wide, starting with the
    /// first.
    explicit TextTable(std::vector<std::string> texts) : text_names_(std::move(texts)) {}

    /// Adds a column of numbers, which is omitted if all of them are 0.
    void add_count_column(std::string name, run::Status colour) { counts_.push_back({std::move(name), colour}); }
    /// Adds a text column on the right. The last of these are omitted if the table is too wide.
    void add_value_column(std::string name) { values_.push_back(std::move(name)); }
    /// Each list must have one entry for each column of its kind.
    void add_row(std::vector<std::string> texts, std::vector<std::size_t> counts, std::vector<std::string> values = {});

    /// The table with a line break after each row. `width`: the maximum in characters; 0: unlimited.
    [[nodiscard]] core::ShownText text(std::size_t width, const ConsoleStyle& style) const;

private:
    struct CountColumn {
        std::string name;
        run::Status colour;
    };
    struct Row {
        std::vector<std::string> texts;
        std::vector<std::size_t> counts;
        std::vector<std::string> values;
    };
    struct Layout;

    [[nodiscard]] Layout layout(std::size_t width) const;

    std::vector<std::string> text_names_;
    std::vector<CountColumn> counts_;
    std::vector<std::string> values_;
    std::vector<Row> rows_;
};

/// The number of characters, not bytes: "µ" takes two bytes.
[[nodiscard]] std::size_t characters_in(std::string_view text);

}  // namespace dmlconform::report

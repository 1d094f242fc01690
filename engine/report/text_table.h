// Tables for terminals: columns as wide as what is in them, none of zeros alone, and all of it within a width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/report/console_style.h"

namespace dmlconform::report {

class TextTable {
public:
    /// Columns of texts, on the left. Where the table is too wide they are shortened, the first one first.
    explicit TextTable(std::vector<std::string> texts) : text_names_(std::move(texts)) {}

    /// A column of numbers. Where all of them are 0 it is left out.
    void add_count_column(std::string name, run::Status colour) { counts_.push_back({std::move(name), colour}); }
    /// A column of texts on the right. The last of these are left out where the table is too wide.
    void add_value_column(std::string name) { values_.push_back(std::move(name)); }
    /// As many as there are columns of each kind.
    void add_row(std::vector<std::string> texts, std::vector<std::size_t> counts, std::vector<std::string> values = {});

    /// With a line break after each row, the head's included. `width`: in characters; 0: any.
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

/// In characters, not in bytes: "µ" takes two bytes.
[[nodiscard]] std::size_t characters_in(std::string_view text);

}  // namespace dmlconform::report

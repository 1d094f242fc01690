// Computes the widths of columns, then formats rows.
#include "engine/report/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/core/utf8.h"

namespace dmlconform::report {
namespace {

constexpr std::size_t gap = 2;

/// The beginning of a name is usually enough to recognise it.
constexpr std::size_t least_name = 12;

std::string left(const std::string& text, std::size_t width) {
    const std::size_t characters = characters_in(text);
    return text + std::string(width > characters ? width - characters : 0, ' ');
}

std::string right(const std::string& text, std::size_t width) {
    const std::size_t characters = characters_in(text);
    return std::string(width > characters ? width - characters : 0, ' ') + text;
}

/// Cuts the text to a width, with an ellipsis in the last column.
std::string shortened(const std::string& text, std::size_t width) {
    return characters_in(text) <= width ? text : core::shortened(text, width - 1);
}

}  // namespace

std::size_t characters_in(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

struct TextTable::Layout {
    std::vector<std::size_t> texts;
    /// 0 for a column that is omitted.
    std::vector<std::size_t> counts;
    std::vector<std::size_t> values;

    [[nodiscard]] std::size_t sum() const {
        std::size_t total = std::accumulate(texts.begin(), texts.end(), std::size_t{0}) + gap * (texts.size() - 1);
        for (const auto* columns : {&counts, &values}) {
            for (const std::size_t width : *columns) {
                total += width == 0 ? 0 : gap + width;
            }
        }
        return total;
    }
};

void TextTable::add_row(std::vector<std::string> texts, std::vector<std::size_t> counts,
                        std::vector<std::string> values) {
    for (std::string& text : texts) {
        text = core::one_line(text);
    }
    rows_.push_back({std::move(texts), std::move(counts), std::move(values)});
}

TextTable::Layout TextTable::layout(std::size_t width) const {
    Layout columns;
    for (std::size_t i = 0; i < text_names_.size(); ++i) {
        std::size_t& widest = columns.texts.emplace_back(characters_in(text_names_[i]));
        for (const Row& row : rows_) {
            widest = std::max(widest, characters_in(row.texts[i]));
        }
    }
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        std::size_t greatest = 0;
        for (const Row& row : rows_) {
            greatest = std::max(greatest, row.counts[i]);
        }
        columns.counts.push_back(greatest == 0 ? 0
                                               : std::max(counts_[i].name.size(), fmt::formatted_size("{}", greatest)));
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
        std::size_t& widest = columns.values.emplace_back(values_[i].size());
        for (const Row& row : rows_) {
            widest = std::max(widest, characters_in(row.values[i]));
        }
    }
    for (std::size_t i = columns.values.size(); width != 0 && i-- > 0 && columns.sum() > width;) {
        columns.values[i] = 0;
    }
    for (std::size_t& name : columns.texts) {
        if (width != 0 && columns.sum() > width) {
            const std::size_t excess = columns.sum() - width;
            name = std::max(std::min(least_name, name), name > excess ? name - excess : 0);
        }
    }
    return columns;
}

core::ShownText TextTable::text(std::size_t width, const ConsoleStyle& style) const {
    const Layout columns = layout(width);
    const auto texts_of = [&](const std::vector<std::string>& texts) {
        std::string line;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            line +=
                (i == 0 ? "" : std::string(gap, ' ')) + left(shortened(texts[i], columns.texts[i]), columns.texts[i]);
        }
        return core::ShownText::made_of(line);
    };
    const auto values_of = [&](const std::vector<std::string>& values) {
        std::string line;
        for (std::size_t i = 0; i < values.size(); ++i) {
            line += columns.values[i] == 0 ? "" : right(values[i], gap + columns.values[i]);
        }
        return core::ShownText::made_of(line);
    };
    core::ShownText head = texts_of(text_names_);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        head += core::show("{}", columns.counts[i] == 0 ? "" : right(counts_[i].name, gap + columns.counts[i]));
    }
    core::ShownText all = style.bold(head + values_of(values_)) + core::show("\n");
    for (const Row& row : rows_) {
        all += texts_of(row.texts);
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            if (columns.counts[i] != 0) {
                const core::ShownText cell =
                    core::show("{}", right(fmt::format("{}", row.counts[i]), gap + columns.counts[i]));
                all += row.counts[i] == 0 ? style.faint(cell) : style.status(counts_[i].colour, cell);
            }
        }
        all += values_of(row.values) + core::show("\n");
    }
    return all;
}

}  // namespace dmlconform::report

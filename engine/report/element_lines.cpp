// Formats elements in lines of up to 80 columns.
#include "engine/report/element_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/element.h"

namespace dmlconform::report {
namespace {

using compare::ShownElement;

constexpr std::size_t most_columns = 80;
constexpr std::size_t indent = 4;

struct Cells {
    std::vector<std::string> expected;
    std::vector<std::string> actual;
    std::vector<std::string> positions;
    std::size_t width = 1;
    std::size_t position_width = 0;
};

Cells cells_of(const run::OutputResult& output) {
    Cells cells;
    for (const ShownElement& element : output.shown) {
        const core::DataType type = output.desc.data_type;
        cells.expected.push_back(core::format_element(type, element.expected_bits));
        cells.actual.push_back(core::format_element(type, element.actual_bits) + (element.beyond ? "*" : " "));
        cells.positions.push_back(
            fmt::format("[{}]", fmt::join(compare::coordinates_of(element.index, output.desc.sizes), ",")));
        cells.width = std::max({cells.width, cells.expected.back().size(), cells.actual.back().size() - 1});
        cells.position_width = std::max(cells.position_width, cells.positions.back().size());
    }
    return cells;
}

core::ShownText line(const Cells& cells, std::size_t first, std::size_t last) {
    std::string expected;
    std::string actual;
    for (std::size_t i = first; i < last; ++i) {
        expected += fmt::format(" {:>{}}", cells.expected[i], cells.width);
        actual += fmt::format(" {:>{}}", cells.actual[i], cells.width + 1);
    }
    while (actual.ends_with(' ')) {
        actual.pop_back();
    }
    return core::show("{:{}}{:<{}} {} |{}\n", "", indent, cells.positions[first], cells.position_width, expected,
                      actual);
}

}  // namespace

core::ShownText element_lines(const run::OutputResult& output) {
    if (output.shown.size() < 2) {
        return {};
    }
    const bool whole = output.shown.size() == output.comparison.elements;
    const Cells cells = cells_of(output);
    std::size_t row = 1;
    if (whole) {
        row =
            output.desc.sizes.empty() || output.desc.sizes.back() == 1 ? output.shown.size() : output.desc.sizes.back();
    }
    const std::size_t taken = indent + cells.position_width + 4;
    const std::size_t fitting = (most_columns - std::min(taken, most_columns)) / (2 * cells.width + 3);
    const std::size_t in_a_line = std::max<std::size_t>(std::min(row, fitting), 1);
    core::ShownText text = core::show(
        "  {:<12}expected | actual{}\n", whole ? "elements" : fmt::format("first {}", output.shown.size()),
        whole ? ", * beyond tolerance" : core::show(", of {} beyond tolerance", output.comparison.beyond).text());
    for (std::size_t begin = 0; begin < output.shown.size(); begin += row) {
        for (std::size_t first = begin; first < begin + row; first += in_a_line) {
            text += line(cells, first, std::min({first + in_a_line, begin + row, output.shown.size()}));
        }
    }
    return text;
}

}  // namespace dmlconform::report

// Generates docs/operators.md: all operators, and what this program supports of them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "engine/cpu/element_wise/widths.h"
#include "engine/expectations/expectation.h"

namespace dmlconform::run {

/// Counts an operator's cases, and what DirectML does with them.
struct OperatorCases {
    std::size_t all = 0;
    /// Cases on the gate that were run on DirectML.
    std::size_t compared = 0;
    /// Those for which DirectML is known to differ or may differ.
    std::size_t different = 0;
    std::size_t doubtful = 0;
    /// Why they differ: findings, or the reasons of entries without one.
    std::set<std::string> findings;
};

/// By the operator's full name.
using CasesByOperator = std::map<std::string, OperatorCases, std::less<>>;

/// Counts a case. `known` has the expectations for DirectML; without any, the case counts as not run on DirectML.
void count_case(CasesByOperator& cases, const cases::Case& subject, std::span<const expectations::Expectation> known);

/// The widths of an operator's error ranges. Empty if they are unknown, or if no element has a range.
struct WidthsByType {
    /// Those of FLOAT32, or of integers if the operator's outputs are integers.
    std::optional<cpu::element_wise::Widths> usual;
    std::optional<cpu::element_wise::Widths> float16;
};

using WidthsOf = std::function<WidthsByType(const operators::OperatorSchema& schema)>;

/// The widths of element-wise operators, without random cases.
[[nodiscard]] WidthsByType widths_of_arguments(const operators::OperatorSchema& schema);

/// The tables as Markdown: operators, and the widths of their ranges.
[[nodiscard]] std::string operator_table(const CasesByOperator& cases, const WidthsOf& widths_of = widths_of_arguments);

}  // namespace dmlconform::run

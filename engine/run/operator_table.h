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

/// Returns the widths of an operator's error ranges; empty if they are unknown.
using WidthsOf = std::function<std::optional<cpu::element_wise::Widths>(const operators::OperatorSchema& schema)>;

/// The table as Markdown.
[[nodiscard]] std::string operator_table(const CasesByOperator& cases,
                                         const WidthsOf& widths_of = cpu::element_wise::widths_of);

}  // namespace dmlconform::run

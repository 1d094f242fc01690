// docs/operators.md: all operators, and what this program has for them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>

#include "engine/expectations/expectation.h"

namespace dmlconform::run {

/// The cases of an operator, and what DirectML does with them.
struct OperatorCases {
    std::size_t all = 0;
    /// Those that decide and that DirectML was run on.
    std::size_t compared = 0;
    /// Those of them that DirectML is known to take otherwise, and those that it may take otherwise.
    std::size_t different = 0;
    std::size_t doubtful = 0;
    /// Why: findings, or reasons where there is none.
    std::set<std::string> findings;
};

/// By the operator's full name.
using CasesByOperator = std::map<std::string, OperatorCases, std::less<>>;

/// Counts a case. `known`: what DirectML does otherwise; without any, it counts as not run on DirectML.
void count_case(CasesByOperator& cases, const cases::Case& subject, std::span<const expectations::Expectation> known);

/// Markdown.
[[nodiscard]] std::string operator_table(const CasesByOperator& cases);

}  // namespace dmlconform::run

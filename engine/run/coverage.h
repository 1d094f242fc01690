// What a set of cases covers of each operator: data types, ranks, feature levels, classes of attribute values, and
// rules.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/error.h"

namespace dmlconform::run {

/// One item that cases should cover.
struct CoverageLine {
    /// Short operator name.
    std::string op;
    /// "type", "rank", "level", "layout", "attribute" or "rule".
    std::string kind;
    /// "InputTensor FLOAT16", "K = 1", "SLICE1.windowInBounds", …
    std::string item;
    /// The number of cases that cover it.
    std::size_t cases = 0;
};

/// The items of every operator that has rules, in the catalogue's order.
[[nodiscard]] std::vector<CoverageLine> coverage(std::span<const cases::Case> cases);

/// Reasons why items may stay uncovered: "<operator> <kind> <item>" -> reason. A file has one line "<operator> <kind>
/// <item>: <reason>" for each; the operator * stands for any. Empty lines and lines that begin with '#' are ignored.
using CoverageReasons = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] core::Result<CoverageReasons> parse_coverage_reasons(std::string_view text);

/// The reason for an item: its own, otherwise that for any operator, otherwise reasons.end().
[[nodiscard]] CoverageReasons::const_iterator find_reason(const CoverageReasons& reasons, const CoverageLine& line);

/// The key of a line in CoverageReasons.
[[nodiscard]] std::string coverage_key(const CoverageLine& line);

}  // namespace dmlconform::run

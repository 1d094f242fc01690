// What DirectML demands of graphs, as a table: one row for each rule, with its check and its source.
//
// Validation, `dmlconform describe --graph` and the table in docs/graphs.md follow this table.
#pragma once

#include <span>
#include <string_view>

#include "engine/operators/graph.h"
#include "engine/operators/rules.h"

namespace dmlconform::operators {

struct GraphRule {
    std::string_view name;
    /// What must hold, as a sentence without a full stop.
    std::string_view demand;
    /// What DirectML does with a graph that breaks the rule.
    std::string_view answer;
    /// Where that is known from.
    std::string_view source;
    /// The case of cases/graphs/rejections.json that breaks the rule and nothing else; empty if a case file cannot
    /// express it, because its reader reports the mistake.
    std::string_view case_name;
    /// Finds the first violation. Called only for graphs that meet all preceding rules.
    Verdict (*check)(const Graph& graph);
};

/// Rules about a graph's structure, which are checked before the rules of its nodes.
[[nodiscard]] std::span<const GraphRule> structure_rules();
/// Rules about values and their readers, which are checked after those of the nodes.
[[nodiscard]] std::span<const GraphRule> value_rules();

}  // namespace dmlconform::operators

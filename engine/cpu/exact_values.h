// Which values of a graph every implementation computes alike.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/tolerance.h"
#include "engine/operators/graph.h"

namespace dmlconform::cpu {

/// The default tolerance of a node's output, which must be present.
[[nodiscard]] core::Tolerance tolerance_of(const operators::GraphNode& node, std::size_t output);

/// For each value, whether all implementations compute exactly what the reference computes.
[[nodiscard]] std::vector<bool> find_exact_values(const operators::Graph& graph);

/// The same for what one node reads. Looks at no more of the graph than it has to.
[[nodiscard]] bool reads_only_exact(const operators::Graph& graph, const operators::GraphNode& node);

/// True if a node reads exact values alone.
[[nodiscard]] bool reads_only(const std::vector<bool>& exact_values, const operators::GraphNode& node);

}  // namespace dmlconform::cpu

// Decides whether CompileGraph accepts a graph, and computes the graph's minimum cost.
#pragma once

#include <span>
#include <vector>

#include "engine/operators/graph.h"
#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Validates a graph for a device of this level: first its structure and its edges, then each node by `validate`.
/// Messages name nodes and values.
[[nodiscard]] Verdict validate_graph(const Graph& graph, core::FeatureLevel level);

/// The nodes of one cycle, each reading the output of the preceding one. Empty if the graph is acyclic.
[[nodiscard]] std::vector<std::size_t> find_cycle(const Graph& graph);

/// Everything that the nodes compute. Of values, only the inputs and outputs of the graph go through memory.
[[nodiscard]] Cost minimum_graph_cost(const Graph& graph);

/// The lowest feature level at which all nodes, which are legal, can be used.
[[nodiscard]] core::FeatureLevel minimum_graph_feature_level(const Graph& graph);

/// For each value, the position in `order` of the last node that uses it. order.size() for outputs of the graph and for
/// values that no node reads or writes.
[[nodiscard]] std::vector<std::size_t> last_uses(const Graph& graph, std::span<const std::size_t> order);

}  // namespace dmlconform::operators

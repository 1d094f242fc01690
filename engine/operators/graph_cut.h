// Graphs that are cut at values: what computed a value and what reads it become independent of each other.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/operators/graph.h"

namespace dmlconform::operators {

struct GraphCut {
    /// The graph with the values as further outputs, unless they are outputs already.
    Graph observed;
    /// The same, but nodes that read one of the values read an input instead.
    Graph cut;
    /// The names of these inputs of `cut`, each after the name of the value that it replaces.
    std::vector<std::pair<std::string, std::string>> replaced;
};

/// Cuts a graph at values that nodes write, given by name. Both graphs have the same outputs in the same order.
[[nodiscard]] GraphCut cut_graph(const Graph& graph, std::span<const std::string> values);

}  // namespace dmlconform::operators

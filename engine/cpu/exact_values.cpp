// Follows exact results from the inputs of a graph through its nodes.
#include "engine/cpu/exact_values.h"

#include <algorithm>

#include "engine/cpu/reference.h"

namespace dmlconform::cpu {

using operators::GraphNode;

namespace {

/// Whether an output of a node is exact if its inputs are.
bool is_exact(const GraphNode& node, std::size_t output) {
    const core::Tolerance own = tolerance_of(node, output);
    return (own.exact || (own.ulp == 0u && !own.abs && !own.rel && !own.element_slack)) && !own.alternatives &&
           !own.meaningful_part;
}

}  // namespace

core::Tolerance tolerance_of(const GraphNode& node, std::size_t output) {
    return default_tolerance(*node.descriptor, node.descriptor->outputs()[output]);
}

bool reads_only(const std::vector<bool>& exact_values, const GraphNode& node) {
    return std::ranges::all_of(node.inputs,
                               [&](auto value) { return value == operators::no_value || exact_values[value]; });
}

bool reads_only_exact(const operators::Graph& graph, const GraphNode& node) {
    std::vector<operators::ValueIndex> open(node.inputs.begin(), node.inputs.end());
    std::vector<bool> seen(graph.values.size());
    while (!open.empty()) {
        const operators::ValueIndex value = open.back();
        open.pop_back();
        if (value == operators::no_value || seen[value] || !graph.values[value].producer) {
            continue;
        }
        seen[value] = true;
        const GraphNode& producer = graph.nodes[graph.values[value].producer->node];
        if (!is_exact(producer, graph.values[value].producer->output)) {
            return false;
        }
        open.insert(open.end(), producer.inputs.begin(), producer.inputs.end());
    }
    return true;
}

std::vector<bool> find_exact_values(const operators::Graph& graph) {
    std::vector<bool> exact(graph.values.size(), true);
    for (const std::size_t n : graph.execution_order()) {
        const GraphNode& node = graph.nodes[n];
        const bool exact_inputs = reads_only(exact, node);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                exact[node.outputs[i]] = exact_inputs && is_exact(node, i);
            }
        }
    }
    return exact;
}

}  // namespace dmlconform::cpu

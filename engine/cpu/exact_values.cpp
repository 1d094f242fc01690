// Follows exact results from the inputs of a graph through its nodes.
#include "engine/cpu/exact_values.h"

#include <algorithm>

#include "engine/cpu/reference.h"

namespace dmlconform::cpu {

using operators::GraphNode;

namespace {

bool is_exact(const core::Tolerance& tolerance) {
    return tolerance.exact || (tolerance.ulp == 0u && !tolerance.abs && !tolerance.rel && !tolerance.element_slack);
}

}  // namespace

core::Tolerance tolerance_of(const GraphNode& node, std::size_t output) {
    return default_tolerance(*node.descriptor, node.descriptor->outputs()[output]);
}

bool reads_only(const std::vector<bool>& exact_values, const GraphNode& node) {
    return std::ranges::all_of(node.inputs,
                               [&](auto value) { return value == operators::no_value || exact_values[value]; });
}

std::vector<bool> find_exact_values(const operators::Graph& graph) {
    std::vector<bool> exact(graph.values.size(), true);
    for (const std::size_t n : graph.execution_order()) {
        const GraphNode& node = graph.nodes[n];
        const bool exact_inputs = reads_only(exact, node);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                const core::Tolerance own = tolerance_of(node, i);
                exact[node.outputs[i]] = exact_inputs && is_exact(own) && !own.alternatives && !own.meaningful_part;
            }
        }
    }
    return exact;
}

}  // namespace dmlconform::cpu

// Checks a graph by the table of rules, and derives from its structure what others need to know.
#include "engine/operators/graph_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/operators/graph_rule_table.h"

namespace dmlconform::operators {
namespace {

Verdict first_violation(std::span<const GraphRule> rules, const Graph& graph) {
    for (const GraphRule& rule : rules) {
        if (Verdict verdict = rule.check(graph)) {
            verdict->rule = rule.name;
            return verdict;
        }
    }
    return {};
}

Verdict check_nodes(const Graph& graph, core::FeatureLevel level) {
    for (const GraphNode& node : graph.nodes) {
        if (Verdict verdict = validate(*node.descriptor, level)) {
            verdict->message = fmt::format("node `{}`: {}", node.name, verdict->message);
            return verdict;
        }
    }
    return {};
}

}  // namespace

Verdict validate_graph(const Graph& graph, core::FeatureLevel level) {
    if (Verdict verdict = first_violation(structure_rules(), graph)) {
        return verdict;
    }
    if (Verdict verdict = check_nodes(graph, level)) {
        return verdict;
    }
    return first_violation(value_rules(), graph);
}

std::vector<std::size_t> find_cycle(const Graph& graph) {
    // Walks from nodes to their producers: a node that is met twice is on a cycle. `harmless` nodes lead to no cycle.
    std::vector<bool> harmless(graph.nodes.size());
    for (std::size_t start = 0; start < graph.nodes.size(); ++start) {
        std::vector<std::size_t> path{start};
        while (!path.empty()) {
            const std::size_t n = path.back();
            std::optional<std::size_t> next;
            for (const ValueIndex value : graph.nodes[n].inputs) {
                const auto& producer = value == no_value ? std::nullopt : graph.values[value].producer;
                if (producer && !harmless[producer->node]) {
                    next = producer->node;
                    break;
                }
            }
            if (!next || harmless[n]) {
                harmless[n] = true;
                path.pop_back();
                continue;
            }
            if (const auto met = std::ranges::find(path, *next); met != path.end()) {
                std::vector<std::size_t> cycle(met, path.end());
                std::ranges::reverse(cycle);
                std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
                return cycle;
            }
            path.push_back(*next);
        }
    }
    return {};
}

Cost minimum_graph_cost(const Graph& graph) {
    Cost sum;
    // By value: what all its readers read together, and what the one with the most bytes could read.
    std::vector<double> read(graph.values.size());
    std::vector<double> most(graph.values.size());
    for (const GraphNode& node : graph.nodes) {
        sum.operations += minimum_cost(*node.descriptor).operations;
        const auto slots = node.descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc != nullptr) {
                const ValueIndex value = node.inputs[i];
                read[value] += bytes_read(*node.descriptor, slots[i]);
                most[value] = std::max(most[value], element_bytes(*slots[i].desc));
            }
        }
    }
    for (const ValueIndex input : graph.inputs) {
        sum.bytes += std::min(read[input], most[input]);
    }
    for (const ValueIndex output : graph.outputs) {
        sum.bytes += element_bytes(graph.values[output].desc);
    }
    return sum;
}

core::FeatureLevel minimum_graph_feature_level(const Graph& graph) {
    core::FeatureLevel level = core::feature_levels().front();
    for (const GraphNode& node : graph.nodes) {
        level = std::max(level, minimum_feature_level(*node.descriptor).value_or(level));
    }
    return level;
}

std::vector<std::size_t> last_uses(const Graph& graph, std::span<const std::size_t> order) {
    std::vector<std::size_t> last(graph.values.size(), order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
        const GraphNode& node = graph.nodes[order[position]];
        for (const auto* values : {&node.outputs, &node.inputs}) {
            for (const ValueIndex value : *values) {
                if (value != no_value) {
                    last[value] = position;
                }
            }
        }
    }
    for (const ValueIndex output : graph.outputs) {
        last[output] = order.size();
    }
    return last;
}

}  // namespace dmlconform::operators

// Builds both graphs by name, so that their inputs have the order that every reader of a graph expects.
#include "engine/operators/graph_cut.h"

#include <algorithm>
#include <map>

#include "engine/operators/graph_builder.h"

namespace dmlconform::operators {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

/// The graph with further outputs, whose nodes read other values where `renamed` says so.
Graph rebuilt(const Graph& graph, std::span<const std::string> outputs, const Names& renamed) {
    GraphBuilder builder;
    const auto name_of = [&](ValueIndex value) { return value == no_value ? "" : graph.values[value].name; };
    for (const GraphNode& node : graph.nodes) {
        std::vector<std::string> reads;
        for (const ValueIndex value : node.inputs) {
            const auto other = renamed.find(name_of(value));
            reads.push_back(other == renamed.end() ? name_of(value) : other->second);
        }
        std::vector<std::string> writes;
        std::ranges::transform(node.outputs, std::back_inserter(writes), name_of);
        // Names are those of a graph, so they fit.
        (void)builder.add_node(node.name, node.descriptor, reads, writes);
    }
    std::ranges::for_each(outputs, [&](const std::string& output) { builder.add_output(output); });
    for (const ValueIndex input : graph.inputs) {
        if (graph.values[input].is_constant) {
            builder.set_constant(graph.values[input].name);
        }
    }
    return builder.graph();
}

}  // namespace

GraphCut cut_graph(const Graph& graph, std::span<const std::string> values) {
    std::vector<std::string> outputs;
    std::ranges::transform(graph.outputs, std::back_inserter(outputs),
                           [&](ValueIndex value) { return graph.values[value].name; });
    GraphCut result;
    Names renamed;
    for (const std::string& value : values) {
        if (std::ranges::find(outputs, value) == outputs.end()) {
            outputs.push_back(value);
        }
        std::string input = value + "@computed";
        while (graph.find_value(input)) {
            input += "'";
        }
        renamed.emplace(value, input);
        result.replaced.emplace_back(value, std::move(input));
    }
    result.observed = rebuilt(graph, outputs, {});
    result.cut = rebuilt(graph, outputs, renamed);
    return result;
}

}  // namespace dmlconform::operators

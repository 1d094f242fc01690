// From names to indices.
#include "engine/operators/graph_builder.h"

#include <fmt/format.h>

namespace dmlconform::operators {

ValueIndex GraphBuilder::index_of(const std::string& value) {
    const auto [found, is_new] = values_.emplace(value, graph_.values.size());
    if (is_new) {
        graph_.values.push_back({value, {}, std::nullopt, false});
    }
    return found->second;
}

core::Result<void> GraphBuilder::add_node(std::string name, std::shared_ptr<const Descriptor> descriptor,
                                          std::span<const std::string> reads, std::span<const std::string> writes) {
    if (!nodes_.emplace(name, graph_.nodes.size()).second) {
        return core::fail(fmt::format("two nodes are called \"{}\"", name));
    }
    GraphNode node{std::move(name), std::move(descriptor), {}, {}};
    const auto inputs = node.descriptor->inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string value = i < reads.size() ? reads[i] : "";
        if (inputs[i].desc != nullptr && value.empty()) {
            return core::fail(fmt::format("{} of node \"{}\" reads no value", inputs[i].name, node.name));
        }
        node.inputs.push_back(inputs[i].desc == nullptr ? no_value : index_of(value));
    }
    const auto outputs = node.descriptor->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc == nullptr) {
            node.outputs.push_back(no_value);
            continue;
        }
        const bool is_named = i < writes.size() && !writes[i].empty();
        const ValueIndex index = index_of(is_named ? writes[i] : fmt::format("{}.{}", node.name, outputs[i].name));
        GraphValue& value = graph_.values[index];
        if (value.producer) {
            return core::fail(fmt::format(
                "nodes \"{}\" and \"{}\" both write \"{}\"",
                value.producer->node == graph_.nodes.size() ? node.name : graph_.nodes[value.producer->node].name,
                node.name, value.name));
        }
        value.producer = GraphValue::Producer{graph_.nodes.size(), i};
        value.desc = *outputs[i].desc;
        node.outputs.push_back(index);
    }
    graph_.nodes.push_back(std::move(node));
    return {};
}

Graph GraphBuilder::graph() const {
    Graph graph = graph_;
    graph.outputs = outputs_;
    std::vector<bool> known(graph.values.size());
    for (const GraphNode& node : graph.nodes) {
        const auto slots = node.descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const ValueIndex index = node.inputs[i];
            if (index == no_value || graph.values[index].producer || known[index]) {
                continue;
            }
            known[index] = true;
            graph.values[index].desc = *slots[i].desc;
            graph.inputs.push_back(index);
        }
    }
    return graph;
}

}  // namespace dmlconform::operators

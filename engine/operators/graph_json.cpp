// Writes graphs as JSON and reads them. Values have the names of the outputs that write them, so that only inputs need
// descriptions.
#include "engine/operators/graph_json.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "engine/operators/descriptor_json.h"
#include "engine/operators/rules.h"

namespace dmlconform::operators {
namespace {

using nlohmann::json;

json names_of(const Graph& graph, const std::vector<ValueIndex>& values) {
    json names = json::array();
    for (const ValueIndex value : values) {
        names.push_back(value == no_value ? json() : json(graph.values[value].name));
    }
    return names;
}

/// Thrown for malformed input. Does not leave this file: graph_from_json turns it into an error.
class MalformedGraph : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

const json& list_member(const json& object, const char* key, const std::string& owner) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end() || !found->is_array()) {
        throw MalformedGraph(fmt::format("{} has no array `{}`", owner, key));
    }
    return *found;
}

std::string name_member(const json& object, const std::string& owner) {
    const auto found = object.is_object() ? object.find("name") : object.end();
    if (found == object.end() || !found->is_string()) {
        throw MalformedGraph(owner + " has no name");
    }
    return found->get<std::string>();
}

class GraphReader {
public:
    std::shared_ptr<const Graph> read(const json& value) {
        for (const json& input : list_member(value, "inputs", "the graph")) {
            add_input(input);
        }
        const json& nodes = list_member(value, "nodes", "the graph");
        for (const json& node : nodes) {
            add_node(node);
        }
        // In a second pass, because nodes may be in any order.
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            connect(graph_.nodes[n], nodes[n]);
        }
        for (const json& output : list_member(value, "outputs", "the graph")) {
            graph_.outputs.push_back(value_named(output, "an output of the graph"));
        }
        return std::make_shared<const Graph>(std::move(graph_));
    }

private:
    ValueIndex add_value(GraphValue value) {
        if (!values_.emplace(value.name, graph_.values.size()).second) {
            throw MalformedGraph(fmt::format("there are two values `{}`", value.name));
        }
        graph_.values.push_back(std::move(value));
        return graph_.values.size() - 1;
    }

    void add_input(const json& input) {
        GraphValue value;
        value.name = name_member(input, "an input of the graph");
        auto desc = tensor_desc_from_json(value.name, input.value("tensor", json()));
        if (!desc) {
            throw MalformedGraph(desc.error().message);
        }
        value.desc = std::move(*desc);
        value.is_constant = input.value("constant", json()) == json(true);
        graph_.inputs.push_back(add_value(std::move(value)));
    }

    void add_node(const json& written) {
        GraphNode node;
        node.name = name_member(written, "a node");
        if (!nodes_.insert(node.name).second) {
            throw MalformedGraph(fmt::format("there are two nodes `{}`", node.name));
        }
        auto descriptor = descriptor_from_json(written);
        if (!descriptor) {
            throw MalformedGraph(fmt::format("node `{}`: {}", node.name, descriptor.error().message));
        }
        node.descriptor = sealed(std::move(*descriptor));
        const std::vector<TensorSlot> slots = node.descriptor->outputs();
        const json& outputs = one_for_each(written, "outputs", node, slots);
        for (std::size_t o = 0; o < slots.size(); ++o) {
            if (outputs[o].is_null()) {
                node.outputs.push_back(no_value);
                continue;
            }
            if (!outputs[o].is_string() || slots[o].desc == nullptr) {
                throw MalformedGraph(
                    fmt::format("{} of node `{}` is absent, or its value has no name", slots[o].name, node.name));
            }
            node.outputs.push_back(add_value(
                {outputs[o].get<std::string>(), *slots[o].desc, GraphValue::Producer{graph_.nodes.size(), o}, false}));
        }
        graph_.nodes.push_back(std::move(node));
    }

    void connect(GraphNode& node, const json& written) {
        for (const json& input : one_for_each(written, "inputs", node, node.descriptor->inputs())) {
            node.inputs.push_back(
                input.is_null() ? no_value : value_named(input, fmt::format("an input of node `{}`", node.name)));
        }
    }

    static const json& one_for_each(const json& written, const char* key, const GraphNode& node,
                                    const std::vector<TensorSlot>& slots) {
        const json& list = list_member(written, key, fmt::format("node `{}`", node.name));
        if (list.size() != slots.size()) {
            throw MalformedGraph(
                fmt::format("node `{}` has {} `{}` for {} tensors", node.name, list.size(), key, slots.size()));
        }
        return list;
    }

    ValueIndex value_named(const json& name, const std::string& use) const {
        const auto found = name.is_string() ? values_.find(name.get_ref<const std::string&>()) : values_.end();
        if (found == values_.end()) {
            throw MalformedGraph(use + " is no value of the graph");
        }
        return found->second;
    }

    Graph graph_;
    std::map<std::string, ValueIndex, std::less<>> values_;
    std::set<std::string> nodes_;
};

}  // namespace

json graph_to_json(const Graph& graph) {
    json inputs = json::array();
    for (const ValueIndex input : graph.inputs) {
        const GraphValue& value = graph.values[input];
        inputs.push_back(
            {{"name", value.name}, {"tensor", tensor_desc_to_json(value.desc)}, {"constant", value.is_constant}});
    }
    json nodes = json::array();
    for (const GraphNode& node : graph.nodes) {
        json written = descriptor_to_json(*node.descriptor);
        written["name"] = node.name;
        written["inputs"] = names_of(graph, node.inputs);
        written["outputs"] = names_of(graph, node.outputs);
        nodes.push_back(std::move(written));
    }
    return {{"inputs", std::move(inputs)}, {"nodes", std::move(nodes)}, {"outputs", names_of(graph, graph.outputs)}};
}

core::Result<std::shared_ptr<const Graph>> graph_from_json(const json& value) {
    try {
        return GraphReader().read(value);
    } catch (const MalformedGraph& problem) {
        return core::fail(problem.what());
    }
}

}  // namespace dmlconform::operators

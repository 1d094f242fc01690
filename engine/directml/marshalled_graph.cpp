// Converts values to edges: one for each reader of a value.
#include "engine/directml/marshalled_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace dmlconform::directml {
namespace {

using operators::Graph;
using operators::GraphNode;
using operators::GraphValue;
using operators::no_value;
using operators::ValueIndex;

std::uint32_t number(std::size_t index) {
    return static_cast<std::uint32_t>(index);
}

template <class Desc>
std::vector<TypedDesc> typed(std::uint32_t type, const std::vector<Desc>& descs) {
    std::vector<TypedDesc> result;
    for (const Desc& desc : descs) {
        result.push_back({type, &desc});
    }
    return result;
}

}  // namespace

MarshalledGraph::MarshalledGraph(const Graph& graph, std::span<void* const> operators) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const GraphNode& node = graph.nodes[n];
        nodes_.push_back({operators[n], node.name.c_str()});
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (node.inputs[i] == no_value) {
                continue;
            }
            const GraphValue& value = graph.values[node.inputs[i]];
            if (value.producer) {
                intermediates_.push_back({number(value.producer->node), number(value.producer->output), number(n),
                                          number(i), value.name.c_str()});
            } else {
                const auto input = std::ranges::find(graph.inputs, node.inputs[i]) - graph.inputs.begin();
                inputs_.push_back({static_cast<std::uint32_t>(input), number(n), number(i), value.name.c_str()});
            }
        }
    }
    for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
        // An input of the graph that is also an output cannot be expressed by edges.
        const GraphValue& value = graph.values[graph.outputs[o]];
        if (value.producer) {
            outputs_.push_back(
                {number(value.producer->node), number(value.producer->output), number(o), value.name.c_str()});
        }
    }
    node_descs_ = typed(operator_node, nodes_);
    input_descs_ = typed(input_edge, inputs_);
    output_descs_ = typed(output_edge, outputs_);
    intermediate_descs_ = typed(intermediate_edge, intermediates_);
    desc_ = {number(graph.inputs.size()),   number(graph.outputs.size()), number(nodes_.size()),   node_descs_.data(),
             number(inputs_.size()),        input_descs_.data(),          number(outputs_.size()), output_descs_.data(),
             number(intermediates_.size()), intermediate_descs_.data()};
}

std::string known_crash(const operators::Graph& graph) {
    for (const operators::GraphNode& node : graph.nodes) {
        const auto is_read = [&](operators::ValueIndex value) {
            return std::ranges::any_of(graph.nodes, [&](const operators::GraphNode& reader) {
                return std::ranges::find(reader.inputs, value) != reader.inputs.end();
            });
        };
        if (node.descriptor->schema->short_name() != "FILL_VALUE_SEQUENCE") {
            continue;
        }
        const operators::ValueIndex sequence = node.outputs.front();
        if (!is_read(sequence)) {
            return fmt::format(
                "CompileGraph crashes on FILL_VALUE_SEQUENCE if no node reads its output, as that of `{}`", node.name);
        }
        if (!graph.inputs.empty() && std::ranges::find(graph.outputs, sequence) != graph.outputs.end()) {
            return fmt::format(
                "a graph with inputs removes the device if one of its outputs is that of "
                "FILL_VALUE_SEQUENCE, as that of `{}`",
                node.name);
        }
    }
    return {};
}

operators::Descriptor with_owned_constants(const Graph& graph, const GraphNode& node) {
    operators::Descriptor descriptor = *node.descriptor;
    const auto slots = descriptor.inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr && node.inputs[i] != no_value && graph.values[node.inputs[i]].is_constant) {
            // The tensor belongs to the descriptor.
            const_cast<core::TensorDesc*>(slots[i].desc)->flags = core::TensorFlags::owned_by_dml;
        }
    }
    return descriptor;
}

}  // namespace dmlconform::directml

// Builds graphs for tests node by node; values are identified by indices.
//   IndexedGraph graph;
//   const auto x = graph.input("x", tensor(DataType::float32, {4}));
//   const auto y = graph.node(describe("ELEMENT_WISE_ABS", …), {x}).front();
//   graph.output(y);
//   const std::shared_ptr<const Graph> built = graph.built();
// Nothing is validated, so that tests can build what must be rejected.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/operators/graph.h"

namespace dmlconform::tests {

class IndexedGraph {
public:
    operators::ValueIndex input(std::string name, core::TensorDesc desc, bool is_constant = false) {
        graph_.inputs.push_back(graph_.values.size());
        graph_.values.push_back({std::move(name), std::move(desc), std::nullopt, is_constant});
        return graph_.inputs.back();
    }

    /// Adds a node that reads the given values, one for each input tensor of the descriptor. Returns a value for each
    /// of its output tensors, operators::no_value for absent ones.
    std::vector<operators::ValueIndex> node(operators::Descriptor descriptor,
                                            std::vector<operators::ValueIndex> inputs) {
        const std::size_t number = graph_.nodes.size();
        operators::GraphNode node;
        node.name = fmt::format("n{}", number);
        node.inputs = std::move(inputs);
        const auto slots = descriptor.outputs();
        for (std::size_t o = 0; o < slots.size(); ++o) {
            if (slots[o].desc == nullptr) {
                node.outputs.push_back(operators::no_value);
                continue;
            }
            node.outputs.push_back(graph_.values.size());
            graph_.values.push_back({fmt::format("{}.{}", node.name, o), *slots[o].desc,
                                     operators::GraphValue::Producer{number, o}, false});
        }
        node.descriptor = std::make_shared<const operators::Descriptor>(std::move(descriptor));
        graph_.nodes.push_back(std::move(node));
        return graph_.nodes.back().outputs;
    }

    void output(operators::ValueIndex value) { graph_.outputs.push_back(value); }

    /// Access to the graph, for changes that the functions above do not offer.
    [[nodiscard]] operators::Graph& graph() { return graph_; }

    [[nodiscard]] std::shared_ptr<const operators::Graph> built() const {
        return std::make_shared<const operators::Graph>(graph_);
    }

private:
    operators::Graph graph_;
};

}  // namespace dmlconform::tests

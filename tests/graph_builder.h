// Builds graphs for tests, node by node:
//   const auto face = graph_of({{"conv", describe("CONVOLUTION", …), {"x", "w"}, {"t"}},
//                               {"relu", describe("ACTIVATION_RELU", …), {"t"}, {"y"}}}, {"y"});
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/operators/graph.h"
#include "engine/operators/graph_builder.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests {

struct TestNode {
    std::string name;
    operators::Descriptor descriptor;
    /// One for each input and output of the operator, including absent ones.
    std::vector<std::string> reads;
    std::vector<std::string> writes;
};

[[nodiscard]] inline operators::Graph plain_graph(const std::vector<TestNode>& nodes,
                                                  const std::vector<std::string>& outputs) {
    operators::GraphBuilder builder;
    for (const TestNode& node : nodes) {
        const auto added = builder.add_node(node.name, std::make_shared<const operators::Descriptor>(node.descriptor),
                                            node.reads, node.writes);
        if (!added) {
            throw std::logic_error(added.error().message);
        }
    }
    for (const std::string& output : outputs) {
        builder.add_output(output);
    }
    return builder.graph();
}

/// The graph's face, a descriptor that has the graph's inputs and outputs as its tensors.
[[nodiscard]] inline std::shared_ptr<const operators::Descriptor> graph_of(const std::vector<TestNode>& nodes,
                                                                           const std::vector<std::string>& outputs) {
    return operators::graph_descriptor(std::make_shared<const operators::Graph>(plain_graph(nodes, outputs)));
}

/// A node for an element-wise operator with one input and no attributes, such as ABS.
[[nodiscard]] inline TestNode unary(std::string name, std::string_view op, const core::TensorDesc& desc,
                                    std::string from, std::string to) {
    return {std::move(name),
            describe(op, {{"InputTensor", desc}, {"OutputTensor", desc}}),
            {std::move(from)},
            {std::move(to)}};
}

}  // namespace dmlconform::tests

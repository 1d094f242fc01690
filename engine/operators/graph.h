// A graph of operators: DML_GRAPH_DESC as a value.
//
// Nodes are connected by values. A value is a tensor's bytes. As with DirectML's edges, each node that reads a value
// describes its layout itself, so a reshape needs no node. To the rest of the program a graph looks like one operator:
// `graph_descriptor` makes a descriptor whose input tensors are the graph's inputs and whose output tensors are its
// outputs.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// An index into Graph::values.
using ValueIndex = std::size_t;
/// In GraphNode: an absent optional tensor, or an output that nobody reads.
inline constexpr ValueIndex no_value = std::numeric_limits<ValueIndex>::max();

struct GraphNode {
    /// Unique within the graph.
    std::string name;
    std::shared_ptr<const Descriptor> descriptor;
    /// One value for each of Descriptor::inputs().
    std::vector<ValueIndex> inputs;
    /// One value for each of Descriptor::outputs(). Every output that is present in the descriptor has a value, even if
    /// nobody reads it.
    std::vector<ValueIndex> outputs;
};

struct GraphValue {
    /// Unique within the graph.
    std::string name;
    /// The layout that the producer describes; for an input of the graph, the layout that its first reader describes.
    core::TensorDesc desc;
    /// The node and output that write the value; empty for an input of the graph.
    struct Producer {
        std::size_t node = 0;
        std::size_t output = 0;
    };
    std::optional<Producer> producer;
    /// True for an input of the graph whose data is fixed when the graph is compiled.
    bool is_constant = false;
};

struct Graph {
    std::vector<GraphNode> nodes;
    std::vector<GraphValue> values;
    /// Values without a producer, in binding order.
    std::vector<ValueIndex> inputs;
    /// Values that are read back, in binding order.
    std::vector<ValueIndex> outputs;

    /// An order of the nodes in which every producer precedes its readers. It keeps the order of `nodes` as far as
    /// possible. Empty if the graph has a cycle.
    [[nodiscard]] std::vector<std::size_t> execution_order() const;
    /// Finds a value by name; empty if no value has the name.
    [[nodiscard]] std::optional<ValueIndex> find_value(std::string_view name) const;
};

/// The graph as a descriptor. Its schema is called "GRAPH" and lives as long as Descriptor::graph. It has a required
/// input tensor for each input of the graph and an output tensor for each output, named like the values.
[[nodiscard]] std::shared_ptr<const Descriptor> graph_descriptor(std::shared_ptr<const Graph> graph);

}  // namespace dmlconform::operators

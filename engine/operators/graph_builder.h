// Graphs made from names: node by node, in any order, with values that come to be when they are first named.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/operators/graph.h"

namespace dmlconform::operators {

class GraphBuilder {
public:
    /// Adds a node. `reads` and `writes` have a value's name for each of Descriptor::inputs() and
    /// Descriptor::outputs(), empty for an absent tensor. An output without a name gets "<node>.<output>". An error if
    /// another node has that name, or writes one of the values, or if a tensor's name is missing.
    [[nodiscard]] core::Result<void> add_node(std::string name, std::shared_ptr<const Descriptor> descriptor,
                                              std::span<const std::string> reads, std::span<const std::string> writes);
    /// A value that is read back. Outputs are bound in the order of the calls.
    void add_output(const std::string& value) { outputs_.push_back(index_of(value)); }
    /// An input whose data is fixed when the graph is compiled.
    void set_constant(const std::string& value) { graph_.values[index_of(value)].is_constant = true; }

    /// The graph so far. What no node writes is an input of it, in the order in which nodes read them. Whether the
    /// graph is legal is for validate_graph to say.
    [[nodiscard]] Graph graph() const;

private:
    ValueIndex index_of(const std::string& value);

    Graph graph_;
    std::vector<ValueIndex> outputs_;
    std::map<std::string, ValueIndex, std::less<>> values_;
    std::map<std::string, std::size_t, std::less<>> nodes_;
};

}  // namespace dmlconform::operators

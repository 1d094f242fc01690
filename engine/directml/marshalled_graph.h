// Converts a graph to the C struct that IDMLDevice1::CompileGraph takes: names become indices, values become edges.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/directml/c_structs.h"
#include "engine/operators/graph.h"

namespace dmlconform::directml {

/// A DML_GRAPH_DESC with everything that it points to, except the operators and the names, which belong to the graph.
class MarshalledGraph {
public:
    /// Accepts legal and illegal graphs. `operators`: an IDMLOperator for each node.
    MarshalledGraph(const operators::Graph& graph, std::span<void* const> operators);
    MarshalledGraph(const MarshalledGraph&) = delete;
    MarshalledGraph& operator=(const MarshalledGraph&) = delete;
    ~MarshalledGraph() = default;

    [[nodiscard]] const GraphDesc& desc() const { return desc_; }

private:
    std::vector<OperatorNodeDesc> nodes_;
    std::vector<InputEdgeDesc> inputs_;
    std::vector<OutputEdgeDesc> outputs_;
    std::vector<IntermediateEdgeDesc> intermediates_;
    std::vector<TypedDesc> node_descs_;
    std::vector<TypedDesc> input_descs_;
    std::vector<TypedDesc> output_descs_;
    std::vector<TypedDesc> intermediate_descs_;
    GraphDesc desc_;
};

/// Why DirectML 1.15.4 crashes when it compiles a graph: docs/findings/directml-1.15.4-graphs.md. Empty if no reason is
/// known.
[[nodiscard]] std::string known_crash(const operators::Graph& graph);

/// A node's operator as the graph needs it: inputs that are constants of the graph have DML_TENSOR_FLAG_OWNED_BY_DML.
/// Then DirectML takes their data once, when the graph is initialised.
[[nodiscard]] operators::Descriptor with_owned_constants(const operators::Graph& graph,
                                                         const operators::GraphNode& node);

}  // namespace dmlconform::directml

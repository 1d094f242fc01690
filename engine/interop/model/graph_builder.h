// Builds a graph from mapped nodes, without those that no output needs.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/interop/model/node_mapping.h"
#include "engine/interop/plain_names.h"
#include "engine/operators/graph.h"

namespace dmlconform::interop {

/// An input of the graph.
struct ModelInput {
    enum class Kind : std::uint8_t {
        constant,  // a weight, or created by a mapping
        given,     // an input of the model
        cut,       // the output of a node that is not in the graph
    };
    Kind kind = Kind::constant;
    /// The model's name for it.
    std::string name;
    OnnxTensor tensor;
    /// The data of a constant.
    std::optional<cases::Initialiser> data;
};

struct BuiltGraph {
    operators::Graph graph;
    /// In the order of Graph::inputs.
    std::vector<ModelInput> inputs;
    /// For each of Graph::nodes, the number that was passed to add_node.
    std::vector<std::size_t> origins;
};

class GraphBuilder {
public:
    /// A new name of a value: `name`, shortened, without characters that messages cannot show.
    [[nodiscard]] std::string unique_value_name(const std::string& name);

    /// Declares a value that no node computes. It becomes an input of the graph if a node reads it.
    void declare(const std::string& value, ModelInput input);

    /// Adds a node whose inputs are declared or computed by earlier nodes.
    void add_node(const std::string& name, std::size_t origin, MappedNode node);

    [[nodiscard]] bool is_computed(const std::string& value) const { return computed_.contains(value); }

    [[nodiscard]] bool is_cut(const std::string& value) const {
        const auto found = declared_.find(value);
        return found != declared_.end() && found->second.kind == ModelInput::Kind::cut;
    }

    /// Keeps the nodes that compute the value. Returns the declared values that those read which were not kept before.
    std::vector<std::string> need(const std::string& value);

    /// The graph that computes the values called `outputs`, each once and each computed by a node. Moves the nodes to
    /// it, so this is the last call.
    [[nodiscard]] BuiltGraph finish(const std::vector<std::string>& outputs);

private:
    struct Node {
        std::string name;
        std::size_t origin = 0;
        MappedNode mapped;
        bool needed = false;
    };
    operators::ValueIndex value_index(const std::string& value, BuiltGraph& built);
    void put_node(Node node, BuiltGraph& built);

    PlainNames value_names_;
    PlainNames node_names_;
    std::unordered_map<std::string, ModelInput> declared_;
    /// Indices of nodes by name.
    std::unordered_map<std::string, std::size_t> computed_;
    std::deque<Node> nodes_;
    std::unordered_map<std::string, operators::ValueIndex> indices_;
};

}  // namespace dmlconform::interop

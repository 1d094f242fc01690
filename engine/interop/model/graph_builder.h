// Builds a graph from mapped nodes, without those that no output needs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
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
    GraphBuilder() = default;
    GraphBuilder(const GraphBuilder&) = delete;
    GraphBuilder& operator=(const GraphBuilder&) = delete;

    /// Makes room for this number of nodes with one output each, and for what is declared.
    void reserve(std::size_t nodes);

    /// A new name of a value: `name`, shortened, without characters that messages cannot show.
    [[nodiscard]] std::string unique_value_name(const std::string& name);

    /// Declares a value that no node computes. It becomes an input of the graph if a node reads it.
    void declare(const std::string& value, ModelInput input);

    /// Adds a node whose inputs are declared or computed by earlier nodes.
    void add_node(const std::string& name, std::size_t origin, MappedNode node);

    [[nodiscard]] bool is_computed(const std::string& value) const;

    [[nodiscard]] bool is_cut(const std::string& value) const {
        const auto found = declared_.find(value);
        return found != declared_.end() && found->second.kind == ModelInput::Kind::cut;
    }

    /// Keeps the nodes that compute the value. Returns the declared values that those read which were not kept before.
    std::vector<std::string> need(const std::string& value);

    /// The graph that computes the values called `outputs`, each once and each computed by a node. This is the last
    /// call.
    [[nodiscard]] BuiltGraph finish(const std::vector<std::string>& outputs);

    [[nodiscard]] std::size_t node_count() const { return graph_.nodes.size(); }
    /// About how much memory all of this takes, in bytes.
    [[nodiscard]] std::uint64_t memory() const;

private:
    // Names are only in the graph's values: models may have very many.
    struct NameHash {
        using is_transparent = void;
        const std::vector<operators::GraphValue>* values;
        std::size_t operator()(const std::string& name) const { return std::hash<std::string>()(name); }
        std::size_t operator()(operators::ValueIndex index) const { return (*this)((*values)[index].name); }
    };
    struct NameEqual {
        using is_transparent = void;
        const std::vector<operators::GraphValue>* values;
        bool operator()(operators::ValueIndex a, operators::ValueIndex b) const { return a == b; }
        bool operator()(const std::string& a, operators::ValueIndex b) const { return a == (*values)[b].name; }
        bool operator()(operators::ValueIndex a, const std::string& b) const { return (*values)[a].name == b; }
    };

    [[nodiscard]] std::optional<operators::ValueIndex> find(const std::string& value) const;
    operators::ValueIndex add_value(operators::GraphValue value);
    operators::ValueIndex read_value(const std::string& value);
    operators::ValueIndex computed_value(const std::string& value, const core::TensorDesc& desc,
                                         operators::GraphValue::Producer producer);
    /// For each value, whether a needed node reads or writes it.
    [[nodiscard]] std::vector<bool> used_values() const;
    /// Leaves out the others. Returns the new index of each.
    std::vector<operators::ValueIndex> keep_values(const std::vector<bool>& used);
    void keep_nodes(const std::vector<operators::ValueIndex>& new_indices);

    PlainNames value_names_;
    PlainNames node_names_;
    std::unordered_map<std::string, ModelInput> declared_;
    operators::Graph graph_;
    /// For each of graph_.nodes.
    std::vector<std::size_t> origins_;
    std::vector<bool> needed_;
    /// Those that memory_of_parts_ has. Nodes that do the same share one.
    std::unordered_set<const operators::Descriptor*> descriptors_;
    std::unordered_set<operators::ValueIndex, NameHash, NameEqual> by_name_{0, NameHash{&graph_.values},
                                                                            NameEqual{&graph_.values}};
    /// What names and lists take.
    std::uint64_t memory_of_parts_ = 0;
};

}  // namespace dmlconform::interop

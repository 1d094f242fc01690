// The graphs of result files: what each of their nodes takes, and where they go wrong.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dmlconform::page {

/// A page shows so many graphs: those that fail, then those with the most nodes.
inline constexpr std::size_t most_graphs = 20;
/// Further nodes of all graphs are counted but not kept.
inline constexpr std::size_t most_nodes = 50'000;

class Graphs {
public:
    using Json = nlohmann::ordered_json;

    /// Keeps what is shown of a result that report::read_result_file has checked, if it is that of a graph or of one of
    /// its nodes. `run` is the index of its file, `data_type` that of its first tensor.
    void add(const Json& result, std::size_t run, const std::string& data_type);

    [[nodiscard]] std::size_t size() const { return graphs_.size(); }

    /// The graphs to show, with the nodes in the order of their results.
    [[nodiscard]] Json shown() const;

private:
    struct Node {
        std::string name;
        std::string operator_name;
        std::string data_type;
        /// {status, seconds} by engine.
        std::map<std::string, Json> results{};
    };

    struct Graph {
        std::size_t run = 0;
        std::string id;
        std::vector<Node> nodes{};
        std::unordered_map<std::string, std::size_t> number_by_name{};
        /// How many results of nodes were not kept.
        std::size_t left_out = 0;
        bool fails = false;
        /// {status, seconds, hint…} of the whole graph by engine.
        std::map<std::string, Json> whole{};
    };

    Graph& graph_of(std::size_t run, const std::string& id);
    Node* node_of(Graph& graph, const std::string& name, const Json& result, const std::string& data_type);
    [[nodiscard]] static Json json_of(const Graph& graph);

    std::vector<Graph> graphs_;
    std::map<std::pair<std::size_t, std::string>, std::size_t> number_by_id_;
    std::size_t kept_nodes_ = 0;
};

}  // namespace dmlconform::page

// Collects graphs and nodes, and chooses what a page shows.
#include "engine/page/graphs.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "engine/operators/operator_name.h"
#include "engine/report/result_file.h"
#include "engine/run/result.h"

namespace dmlconform::page {
namespace {

using Json = Graphs::Json;

Json outcome_of(const Json& result) {
    Json outcome{{"status", result["status"]}};
    if (const auto timing = result.find("timing"); timing != result.end()) {
        outcome["seconds"] = (*timing)["executeNanoseconds"].get<double>() / 1e9;
    }
    return outcome;
}

/// Null if the result has no such text.
const std::string* text_of(const Json& result, const char* member) {
    const auto found = result.find(member);
    return found == result.end() ? nullptr : found->get_ptr<const std::string*>();
}

bool fails(const Json& result) {
    return run::is_failure(*report::status_named(result["status"].get<std::string>()));
}

}  // namespace

Graphs::Graph& Graphs::graph_of(std::size_t run, const std::string& id) {
    const auto [entry, is_new] = number_by_id_.try_emplace({run, id}, graphs_.size());
    if (is_new) {
        graphs_.push_back({.run = run, .id = id});
    }
    return graphs_[entry->second];
}

Graphs::Node* Graphs::node_of(Graph& graph, const std::string& name, const Json& result, const std::string& data_type) {
    const auto [entry, is_new] = graph.number_by_name.try_emplace(name, graph.nodes.size());
    if (is_new) {
        if (kept_nodes_ == most_nodes) {
            graph.number_by_name.erase(entry);
            return nullptr;
        }
        ++kept_nodes_;
        graph.nodes.push_back(
            {.name = name,
             .operator_name = std::string(operators::short_name_of(result["operator"].get_ref<const std::string&>())),
             .data_type = data_type});
        return &graph.nodes.back();
    }
    return &graph.nodes[entry->second];
}

void Graphs::add(const Json& result, std::size_t run, const std::string& data_type) {
    if (result.contains("repetition")) {
        return;
    }
    const std::string engine = result["engine"].get<std::string>();
    if (const auto whole = result.find("graph"); whole != result.end() && whole->is_object()) {
        Graph& graph = graph_of(run, result["id"].get<std::string>());
        Json& outcome = graph.whole[engine] = outcome_of(result);
        for (const char* member : {"hint", "reason"}) {
            if (const auto text = result.find(member); text != result.end()) {
                outcome[member] = *text;
            }
        }
        outcome["graph"] = *whole;
        graph.fails |= fails(result);
        return;
    }
    const std::string* owner = text_of(result, "nodeOf");
    const std::string* name = text_of(result, "node");
    if (owner != nullptr && name != nullptr) {
        Graph& graph = graph_of(run, *owner);
        graph.fails |= fails(result);
        if (Node* node = node_of(graph, *name, result, data_type)) {
            node->results[engine] = outcome_of(result);
        } else {
            ++graph.left_out;
        }
    }
}

Json Graphs::json_of(const Graph& graph) {
    Json rows = Json::array();
    for (const Node& node : graph.nodes) {
        rows.push_back({{"name", node.name},
                        {"operator", node.operator_name},
                        {"type", node.data_type},
                        {"results", node.results}});
    }
    return {{"run", graph.run},     {"id", graph.id},           {"fails", graph.fails},
            {"whole", graph.whole}, {"nodes", std::move(rows)}, {"leftOut", graph.left_out}};
}

Json Graphs::shown() const {
    std::vector<std::reference_wrapper<const Graph>> order(graphs_.begin(), graphs_.end());
    std::ranges::stable_sort(order, std::greater<>(),
                             [](const Graph& graph) { return std::tuple(graph.fails, graph.nodes.size()); });
    Json shown = Json::array();
    for (std::size_t i = 0; i < std::min(order.size(), most_graphs); ++i) {
        shown.push_back(json_of(order[i]));
    }
    return shown;
}

}  // namespace dmlconform::page

// Makes a case of each node of a graph. Its inputs are computed by the reference, so errors of other nodes do not
// affect it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/cases/case.h"
#include "engine/operators/graph.h"

namespace dmlconform::run {

/// Marks the nodes that can be judged separately: the reference computes their operator and all preceding ones. Of
/// nodes that do the same with the same values, only the first is marked. Empty for cases without a graph and for
/// graphs that must be rejected.
[[nodiscard]] std::vector<bool> judged_nodes(const cases::Case& subject);

/// True if two nodes of a graph do the same with the same values.
[[nodiscard]] bool are_identical(const operators::GraphNode& a, const operators::GraphNode& b);

/// For each node, how many nodes do the same with the same values, itself included.
[[nodiscard]] std::vector<std::size_t> identical_nodes(const operators::Graph& graph);

/// The id of a node's case: the id of the graph's case, followed by the node's name.
[[nodiscard]] std::string node_id(const cases::Case& subject, std::size_t node);

class NodeValues;

/// A case with a graph, and the cases of its nodes. They share the values that they read: each is computed when a case
/// first needs it, and kept while this object or one of the cases exists. Thread-safe.
class GraphCase {
public:
    /// Whether the graph's case and those of its nodes are all judged. Then the reference of each node is computed once
    /// for both, if there is enough memory for that.
    enum class Judged : std::uint8_t { apart, together };

    /// The values take about `memory` bytes at most. What does not fit goes to a temporary file.
    explicit GraphCase(std::shared_ptr<const cases::Case> whole,
                       std::uint64_t memory = std::numeric_limits<std::uint64_t>::max(), Judged judged = Judged::apart);

    [[nodiscard]] const std::shared_ptr<const cases::Case>& whole() const { return whole_; }
    /// The case of a node; null if it cannot be judged separately.
    [[nodiscard]] std::shared_ptr<const cases::Case> node(std::size_t index) const;
    /// The same for the node that is executed at that position.
    [[nodiscard]] std::shared_ptr<const cases::Case> node_in_order(std::size_t position) const;
    /// A case of a subset of the nodes. Values that other nodes write become inputs with the reference's values, and
    /// values that other nodes read become outputs. It has no expected values. Null if the reference does not compute
    /// one of the nodes, or if the subset is not a legal graph.
    [[nodiscard]] std::shared_ptr<const cases::Case> part(const std::vector<bool>& nodes) const;

private:
    void share_reference();

    /// The case as it was given, and with the reference that it shares with its nodes, if it does.
    std::shared_ptr<const cases::Case> unshared_;
    std::shared_ptr<const cases::Case> whole_;
    std::vector<bool> judged_;
    /// The order of execution; empty if no node can be judged.
    std::vector<std::size_t> order_;
    std::shared_ptr<NodeValues> values_;
    bool is_shared_ = false;
    /// What computing values takes.
    std::uint64_t memory_beside_ = 0;
};

/// Graph cases that are shared by threads which work on the same graph.
class SharedGraphCases {
public:
    /// The graph case with that number; null if `read` returns null. It exists as long as somebody holds it.
    [[nodiscard]] std::shared_ptr<const GraphCase> at(std::size_t number,
                                                      const std::function<std::shared_ptr<const GraphCase>()>& read);

private:
    std::mutex mutex_;
    std::map<std::size_t, std::weak_ptr<const GraphCase>> cases_;
};

}  // namespace dmlconform::run

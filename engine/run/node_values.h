// The reference's values for a graph, which the cases of its nodes read, and its results for these cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/cases/case.h"
#include "engine/cpu/reference.h"
#include "engine/operators/graph.h"
#include "engine/run/value_store.h"

namespace dmlconform::run {

/// Values are computed when they are first needed. Thread-safe.
class NodeValues {
public:
    /// The values take about `memory` bytes at most. What does not fit goes to a temporary file.
    NodeValues(std::shared_ptr<const cases::Case> whole, std::uint64_t memory);
    NodeValues(const NodeValues&) = delete;
    NodeValues& operator=(const NodeValues&) = delete;
    ~NodeValues();

    /// Judging a node and judging the graph take the same work for each node: its values and their ranges. From now on
    /// it is done once, for the graph with so many runs and for these nodes. Ranges take `memory` bytes at most, or
    /// those of one node; what does not fit is forgotten.
    void compute_together(std::vector<bool> nodes, std::size_t runs, std::uint64_t memory);

    /// The value. Fails if data of the case cannot be read, or a temporary file cannot be written.
    [[nodiscard]] core::Result<std::shared_ptr<const core::Tensor>> value(operators::ValueIndex index);
    /// What compute_reference would compute for a node. Empty if it was taken already, or is not computed together with
    /// the graph, or was forgotten.
    [[nodiscard]] std::optional<cpu::Reference> take(std::size_t node);
    /// What compute_graph_reference would compute for the graph. Empty if it was taken already, or if the nodes are not
    /// computed together with it.
    [[nodiscard]] std::optional<cpu::Reference> take_whole();

private:
    using Shared = std::shared_ptr<const core::Tensor>;

    struct Together;

    [[nodiscard]] bool is_made_again(operators::ValueIndex index) const;
    [[nodiscard]] bool is_ready(operators::ValueIndex index) const;
    core::Result<Shared> held(operators::ValueIndex index);
    [[nodiscard]] core::Result<core::Tensor> input(operators::ValueIndex index) const;
    [[nodiscard]] std::vector<operators::ValueIndex> missing_inputs(operators::ValueIndex index) const;
    core::Result<void> make(operators::ValueIndex index);
    core::Result<Shared> value_alone(operators::ValueIndex index);

    /// Computes nodes together until that one is done.
    void compute_through(std::size_t node);
    bool start_together();
    void compute_next_together();
    void keep(std::size_t node, cpu::Reference& computed);
    void keep_ranges(std::size_t node, std::vector<core::ElementSlack> slack);
    /// The outputs of a node, as the reference has them.
    core::Result<std::vector<core::Tensor>> outputs_of(std::size_t node);

    std::shared_ptr<const cases::Case> whole_;
    const operators::Graph& graph_;
    std::mutex mutex_;
    ValueStore values_;
    /// The nodes and the graph together, as far as they are computed. Null: each case computes its own results.
    std::unique_ptr<Together> together_;
};

}  // namespace dmlconform::run

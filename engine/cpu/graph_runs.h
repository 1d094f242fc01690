// The values of a graph in the reference and in its noisy runs, all of which advance in lockstep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/chain_of_runs.h"
#include "engine/cpu/reference.h"
#include "engine/graph_values.h"
#include "engine/operators/graph.h"

namespace dmlconform::cpu {

struct GraphRuns {
    /// The graph and the inputs must outlive this object.
    GraphRuns(const operators::Graph& of_graph, std::span<const core::Tensor* const> inputs, std::size_t count,
              std::function<bool()> asks_for_stop);

    [[nodiscard]] bool is_output(operators::ValueIndex value) const;
    [[nodiscard]] bool has_exact_inputs(std::size_t n) const;
    /// Ends the computation with EngineLost if `stop_requested` says so.
    void stop_if_requested() const;
    /// Releases the values that are no longer needed after the node at this position of the order.
    void release_after(std::size_t position);

    /// The seed of a node's own errors. They depend on the positions of the node and of the output, because a graph
    /// that was sent to another process may number its values differently.
    [[nodiscard]] static std::uint64_t seed_of(std::size_t n, std::size_t output);

    /// The outputs of a node in all runs.
    struct OutputsTogether {
        /// Empty if they have to be computed one by one.
        std::vector<std::vector<core::Tensor>> of_runs = {};
        /// True if noise was added to parts that were still in the caches.
        bool have_noise = false;
    };

    /// Computes all runs of a node at once, if its kernel can. The chain of what follows, if there is one, goes on with
    /// the same parts.
    [[nodiscard]] OutputsTogether outputs_together(std::size_t n, const NodeInputs& exact,
                                                   std::span<const double> for_runs, const core::ElementSlack& slack,
                                                   const ChainOfRuns* chain = nullptr) const;
    /// The outputs of a node in a run, before noise is added.
    [[nodiscard]] std::vector<core::Tensor> outputs_of(std::size_t n, std::size_t run, const Reference& computed) const;
    /// Stores an output of all runs, with the node's own errors unless it has them.
    void put_with_noise(std::size_t n, std::size_t i, const Reference& computed,
                        std::vector<std::vector<core::Tensor>>& outputs, bool have_noise) const;
    /// True if some runs have another value than the reference.
    [[nodiscard]] bool differs_in_runs(operators::ValueIndex value, const core::Tensor& expected) const;

    const operators::Graph& graph;
    GraphValues reference;
    /// For each value, whether all implementations compute exactly what the reference computes.
    std::vector<bool> exact_values;
    /// One for each run.
    std::vector<std::unique_ptr<GraphValues>> noisy;
    /// May be empty.
    std::function<bool()> stop_requested;
};

}  // namespace dmlconform::cpu

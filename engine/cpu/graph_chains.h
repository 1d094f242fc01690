// Nodes of a graph whose noisy runs are computed together, part by part, while a part is in the caches.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/chain_of_runs.h"
#include "engine/cpu/graph_runs.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/node_noise.h"

namespace dmlconform::cpu {

/// A node with the reference's inputs and results.
struct GraphStep {
    std::size_t node = 0;
    NodeInputs inputs = {};
    std::vector<double> for_runs = {};
    Reference computed = {};
    /// Empty unless its runs can be computed element by element.
    std::optional<ElementByElement> formula = {};
    core::Tolerance tolerance = {};
};

/// Finds chains of nodes, and computes their runs.
class GraphChains {
public:
    /// The runs must outlive this object.
    GraphChains(const GraphRuns& runs, Accumulation accumulation);

    /// The value that a step of a chain computes.
    [[nodiscard]] operators::ValueIndex output_of(const GraphStep& step) const;

    /// Computes the reference of the node at this position of the order, and of those after it whose runs can be
    /// computed in the same parts.
    [[nodiscard]] std::vector<GraphStep> next_steps(std::size_t position) const;

    /// Computes the runs of all steps part by part. Returns the output of the last one, for each run; empty if that is
    /// not possible.
    [[nodiscard]] std::vector<core::Tensor> compute_in_parts(const std::vector<GraphStep>& steps) const;

private:
    /// Computes the reference of the node after these steps.
    void add_step(std::size_t position, std::vector<GraphStep>& steps) const;
    /// The inputs of a node that reads what the step before it computes.
    [[nodiscard]] NodeInputs inputs_behind(const operators::GraphNode& node, const GraphStep& before) const;
    /// How the runs of a node can be computed, and noise added to them, element by element. Empty if that is not
    /// possible.
    [[nodiscard]] std::optional<ElementByElement> formula_of(std::size_t n,
                                                             std::span<const core::Tensor* const> inputs) const;
    /// True if the runs of a node may be computed in parts, as far as the graph is concerned.
    [[nodiscard]] bool has_parts(std::size_t n) const;
    /// True if the next node can be computed in the same parts, so that nobody reads the runs of the last step.
    [[nodiscard]] bool has_follower(std::size_t position, const std::vector<GraphStep>& steps) const;
    /// True if the runs of a node are computed together, and noise is added to parts of them.
    [[nodiscard]] bool has_noise_in_parts(const GraphStep& step) const;
    [[nodiscard]] static NodeNoise noise_of(const GraphStep& step);
    /// `before` is the value that the link before it computes.
    [[nodiscard]] ChainLink link_of(const GraphStep& step, operators::ValueIndex before) const;
    /// The outputs of all runs behind a node and what follows it, or of a chain that starts with the node.
    [[nodiscard]] std::vector<core::Tensor> outputs_in_parts(const GraphStep& first, const ChainOfRuns& chain) const;

    const GraphRuns& runs_;
    Accumulation accumulation_;
    /// How many nodes read each value.
    std::vector<std::size_t> readers_;
};

}  // namespace dmlconform::cpu

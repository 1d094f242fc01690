// Takes the decisions of a graph's nodes both ways, in its noisy runs: see decisions.h.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/graph_runs.h"

namespace dmlconform::cpu {

/// Takes the decisions of a node both ways, in all runs. `exact` are the reference's inputs of the node, and
/// `reference` its results. Returns which outputs jumped in one of the runs.
[[nodiscard]] std::vector<bool> decide(const GraphRuns& runs, const operators::GraphNode& node, const NodeInputs& exact,
                                       const Reference& reference, std::vector<std::vector<core::Tensor>>& outputs);

/// True if an output of a node is one of few values, or the position of one.
[[nodiscard]] bool takes_steps(const operators::GraphNode& node, std::size_t output);

/// True if an element that is NaN in the reference is a number in some run, or the other way round.
[[nodiscard]] bool crosses_end_of_domain(const GraphRuns& runs, const operators::GraphNode& node,
                                         const Reference& reference);

}  // namespace dmlconform::cpu

// The reference of a graph, computed node by node. Its tolerance comes from several runs with rounding errors.
//
// A proven error bound after fifty layers is useless, because each layer multiplies its width. Monte Carlo arithmetic
// measures the effect of realistic rounding errors instead: each run adds noise to every node's output before the next
// node reads it (NodeNoise), and the spread of the final outputs says how much implementations may differ.
// docs/graphs.md derives the numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "engine/core/tensor.h"
#include "engine/cpu/reference.h"
#include "engine/operators/graph.h"

namespace dmlconform::cpu {

/// The number of noisy runs for the tolerance of a graph.
inline constexpr std::size_t monte_carlo_runs = 16;
/// An element may deviate by this multiple of its spread. With 16 runs, a legal implementation exceeds it for fewer
/// than one in 10^6 elements.
inline constexpr double spread_multiple = 8;
/// An element may also deviate by this multiple of the common spread of the output's elements. This covers elements
/// near a kink, such as that of RELU, which only some of the runs reach.
inline constexpr double common_spread_multiple = 4;

/// The default tolerance of a graph's output.
[[nodiscard]] core::Tolerance graph_tolerance(const operators::Graph& graph, std::string_view output);

/// Computes the outputs of a valid graph whose nodes all have a reference. If `runs` is 0, slack is not computed.
/// Models take minutes: `stop_requested` is asked before each node and again and again in its runs, and ends everything
/// with EngineLost.
[[nodiscard]] Reference compute_graph_reference(const operators::Graph& graph,
                                                std::span<const core::Tensor* const> inputs, Accumulation accumulation,
                                                std::size_t runs = monte_carlo_runs,
                                                const std::function<bool()>& stop_requested = {});

}  // namespace dmlconform::cpu

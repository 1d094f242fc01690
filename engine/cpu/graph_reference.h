// The reference of a graph, computed node by node. Its tolerance comes from several runs with rounding errors.
//
// A proven error bound after fifty layers is useless, because each layer multiplies its width. Monte Carlo arithmetic
// measures the effect of realistic rounding errors instead: each run adds noise to every node's output before the next
// node reads it (NodeNoise), and the spread of the final outputs says how much implementations may differ.
// docs/graphs.md derives the numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
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

/// Receives what compute_reference computes for a node of a graph, and may take the slack.
using HearNode = std::function<void(std::size_t node, Reference& computed)>;

/// Computes the outputs of a valid graph whose nodes all have a reference, node by node. If `runs` is 0, their slack is
/// that of the last nodes alone. Models take minutes: `stop_requested` is asked before each node and again and again in
/// its runs, and ends everything with EngineLost.
class GraphReference {
public:
    /// The graph and the inputs must outlive this object.
    GraphReference(const operators::Graph& graph, std::span<const core::Tensor* const> inputs,
                   Accumulation accumulation, std::size_t runs, std::function<bool()> stop_requested = {});
    GraphReference(const GraphReference&) = delete;
    GraphReference& operator=(const GraphReference&) = delete;
    ~GraphReference();

    /// The node that is computed next; empty after the last one.
    [[nodiscard]] std::optional<std::size_t> next() const;
    /// Computes that node in the reference and in all runs. After an exception it can be computed again.
    void compute_next(const HearNode& hear = {});
    /// The results, after the last node.
    [[nodiscard]] Reference results();

private:
    class Runs;
    std::unique_ptr<Runs> runs_;
};

/// All of that at once.
[[nodiscard]] Reference compute_graph_reference(const operators::Graph& graph,
                                                std::span<const core::Tensor* const> inputs, Accumulation accumulation,
                                                std::size_t runs = monte_carlo_runs,
                                                const std::function<bool()>& stop_requested = {});

}  // namespace dmlconform::cpu

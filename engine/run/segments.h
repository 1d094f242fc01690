// Judges a graph in segments, where decisions inside it may go either way.
//
// Rounding beside a tie, a comparison, or the position of an extreme may legally differ, and so may everything that
// follows from it. A tolerance that allows for all combinations would be blind. Instead, the engine's values at such
// decisions are read as further outputs of the graph. Each segment is then judged from there on: the reference computes
// what follows from the engine's own decisions. See docs/graphs.md.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/compare/comparison.h"
#include "engine/core/tensor.h"
#include "engine/engine.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::run {

struct SegmentVerdict {
    /// Which value is wrong, or why the engine does not run the graph with further outputs; empty if all are right.
    /// Only the first value in execution order is named, because the others follow from it.
    std::string failure;
    /// How many elements of it are wrong, and the worst one.
    std::string difference;
    /// For each output of the graph: the engine's output without further outputs, compared with what follows from the
    /// engine's decisions. Empty after a failure.
    std::vector<compare::Comparison> without_further_outputs;
};

using CompileGraph =
    std::function<tl::expected<std::unique_ptr<Executable>, CompileFailure>(const operators::Descriptor& graph)>;

/// Runs a graph with these values as further outputs, and judges each of its outputs. `inputs` are those of the graph,
/// and `outputs` are what the engine computed for the graph itself.
[[nodiscard]] SegmentVerdict judge_segments(const operators::Descriptor& graph,
                                            std::span<const core::Tensor* const> inputs,
                                            std::span<const core::Tensor> outputs, std::span<const std::string> values,
                                            const CompileGraph& compile);

}  // namespace dmlconform::run

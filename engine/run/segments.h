// Judges a graph in segments, where decisions inside it may go either way.
//
// Rounding beside a tie, a comparison, or the position of an extreme may legally differ, and so may everything that
// follows from it. A tolerance that allows for all combinations would be blind. Instead, the engine's values at such
// decisions are read as further outputs of the graph. Each segment is then judged from there on: the reference computes
// what follows from the engine's own decisions. See docs/graphs.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/compare/comparison.h"
#include "engine/core/tensor.h"
#include "engine/engine.h"
#include "engine/operators/descriptor.h"
#include "engine/run/result.h"

namespace dmlconform::run {

/// An output of the graph, held against what follows from the engine's decisions.
struct SegmentOutput {
    compare::Comparison comparison;
    /// Empty if the standard deviations of its errors are not known.
    std::optional<OutputPrecision> precision;

    /// False if an element is wrong, or if all together are less precise than FP32.
    [[nodiscard]] bool passed() const;
};

struct SegmentVerdict {
    /// Which value is wrong, or why the engine does not run the graph with further outputs; empty if all are right.
    /// Only the first value in execution order is named, because the others follow from it.
    std::string failure;
    /// How many elements of it are wrong, and the worst one; empty if it is only less precise than FP32.
    std::string difference;
    SegmentFault wrong = SegmentFault::none;
    /// For each output of the graph, what the engine computed without further outputs. Empty after a failure.
    std::vector<SegmentOutput> without_further_outputs;
};

/// What is asked of the engine.
struct SegmentEngine {
    /// Why the engine does not support a graph; empty if it does.
    std::function<std::optional<std::string>(const operators::Descriptor& graph)> unsupported;
    std::function<tl::expected<std::unique_ptr<Executable>, CompileFailure>(const operators::Descriptor& graph)>
        compile;
};

/// Runs a graph with these values as further outputs, and judges each of its outputs. `inputs` are those of the graph,
/// and `outputs` are what the engine computed for the graph itself. Empty if the engine does not support the graph with
/// further outputs.
[[nodiscard]] std::optional<SegmentVerdict> judge_segments(const operators::Descriptor& graph,
                                                           std::span<const core::Tensor* const> inputs,
                                                           std::span<const core::Tensor> outputs,
                                                           std::span<const std::string> values,
                                                           const SegmentEngine& engine);

}  // namespace dmlconform::run

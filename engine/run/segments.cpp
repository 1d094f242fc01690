// Runs the graph with further outputs on the engine, and the cut graph on the reference.
#include "engine/run/segments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "engine/compare/comparison.h"
#include "engine/core/element.h"
#include "engine/cpu/graph_reference.h"
#include "engine/cpu/reference.h"
#include "engine/graph_values.h"
#include "engine/operators/graph.h"
#include "engine/operators/graph_cut.h"
#include "engine/run/precision_verdict.h"
#include "engine/run/reference_source.h"

namespace dmlconform::run {
namespace {

/// What the engine computes for the graph with further outputs; or why it computed nothing.
core::Result<std::vector<core::Tensor>> observed_outputs(const operators::Descriptor& graph,
                                                         std::span<const core::Tensor* const> inputs,
                                                         const SegmentEngine& engine) {
    auto compiled = engine.compile(graph);
    if (!compiled) {
        return core::fail(compiled.error().rejection.message);
    }
    std::vector<core::Tensor> outputs;
    std::vector<core::Tensor*> targets;
    const auto slots = graph.outputs();
    outputs.reserve(slots.size());
    for (const operators::TensorSlot& slot : slots) {
        targets.push_back(&outputs.emplace_back(core::output_tensor(*slot.desc)));
    }
    if (auto bound = (*compiled)->bind(inputs); !bound) {
        return tl::unexpected(bound.error());
    }
    if (auto executed = (*compiled)->execute(); !executed) {
        return tl::unexpected(executed.error());
    }
    if (auto read = (*compiled)->read(targets); !read) {
        return tl::unexpected(read.error());
    }
    return outputs;
}

/// What is wrong with an output that has not passed.
std::string reason_of(const SegmentOutput& output) {
    return output.comparison.passed() ? fmt::format(
                                            "is within every element's range, but computes as {}, and {} was "
                                            "promised",
                                            output.precision->computes_as, output.precision->promised)
                                      : "differs beyond tolerance";
}

std::string difference_of(const compare::Comparison& comparison, const core::TensorDesc& desc) {
    if (comparison.passed()) {
        return {};
    }
    std::string text = fmt::format("{} of {}", comparison.beyond, comparison.elements);
    if (comparison.worst) {
        text += fmt::format(": [{}] {} expected, {} got",
                            fmt::join(compare::coordinates_of(comparison.worst->index, desc.sizes), ","),
                            core::format_element(desc.data_type, comparison.worst->expected_bits),
                            core::format_element(desc.data_type, comparison.worst->actual_bits));
    }
    return text;
}

/// The outputs of a graph in the order in which its nodes write them.
std::vector<std::size_t> in_order(const operators::Graph& graph) {
    std::vector<std::size_t> positions(graph.nodes.size());
    const auto order = graph.execution_order();
    for (std::size_t i = 0; i < order.size(); ++i) {
        positions[order[i]] = i;
    }
    std::vector<std::size_t> outputs;
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
        outputs.push_back(i);
    }
    std::ranges::stable_sort(outputs, {},
                             [&](std::size_t i) { return positions[graph.values[graph.outputs[i]].producer->node]; });
    return outputs;
}

class SegmentRun {
public:
    SegmentRun(const operators::Descriptor& graph, std::span<const core::Tensor* const> inputs,
               std::span<const std::string> values)
        : cut_(operators::cut_graph(*graph.graph, values)),
          observed_(operators::graph_descriptor(std::make_shared<const operators::Graph>(cut_.observed))),
          reference_(operators::graph_descriptor(std::make_shared<const operators::Graph>(cut_.cut))) {
        const auto slots = graph.inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            inputs_.emplace(slots[i].name, inputs[i]);
        }
    }

    std::optional<SegmentVerdict> judge(std::span<const core::Tensor> without_further_outputs,
                                        const SegmentEngine& engine) {
        if (engine.unsupported(*observed_)) {
            return std::nullopt;
        }
        SegmentVerdict verdict;
        auto outputs = observed_outputs(*observed_, inputs_of(*observed_), engine);
        if (!outputs) {
            verdict.failure = fmt::format("the graph does not run with `{}` as a further output: {}",
                                          cut_.replaced.front().first, outputs.error().message);
            return verdict;
        }
        outputs_ = std::move(*outputs);
        compare(without_further_outputs, verdict);
        return verdict;
    }

private:
    std::vector<const core::Tensor*> inputs_of(const operators::Descriptor& graph) {
        std::vector<const core::Tensor*> inputs;
        for (const operators::TensorSlot& slot : graph.inputs()) {
            inputs.push_back(inputs_.at(std::string(slot.name)));
        }
        return inputs;
    }

    void compare(std::span<const core::Tensor> without_further_outputs, SegmentVerdict& verdict) {
        std::vector<core::Tensor> decided = decided_values();
        for (std::size_t i = 0; i < decided.size(); ++i) {
            inputs_[cut_.replaced[i].second] = &decided[i];
        }
        const cpu::Reference expected =
            reference_for(*reference_, inputs_of(*reference_), {cpu::Accumulation::fp32, cpu::monte_carlo_runs});
        const auto slots = reference_->outputs();
        const auto compared = [&](std::size_t i, const core::Tensor& actual) {
            SegmentOutput output{compare::compare(expected.outputs[i], actual,
                                                  cpu::default_tolerance(*reference_, slots[i]), &expected.slack[i]),
                                 {}};
            output.precision = precision_verdict({.descriptor = *reference_,
                                                  .inputs = inputs_of(*reference_),
                                                  .reference = expected,
                                                  .output = i,
                                                  .differs = !output.comparison.passed()},
                                                 actual);
            return output;
        };
        for (const std::size_t i : in_order(cut_.cut)) {
            if (const SegmentOutput output = compared(i, outputs_[i]); !output.passed()) {
                const auto& producer = *cut_.cut.values[cut_.cut.outputs[i]].producer;
                verdict.failure = fmt::format("judged in segments, `{}` of node `{}` {}", slots[i].name,
                                              cut_.cut.nodes[producer.node].name, reason_of(output));
                verdict.difference = difference_of(output.comparison, *slots[i].desc);
                verdict.wrong = output.comparison.passed() ? SegmentFault::precision : SegmentFault::value;
                return;
            }
        }
        // Further outputs follow those of the graph.
        for (std::size_t i = 0; i < without_further_outputs.size(); ++i) {
            verdict.without_further_outputs.push_back(compared(i, without_further_outputs[i]));
        }
    }

    /// The engine's values at the cuts, in the layouts in which the reference reads them.
    [[nodiscard]] std::vector<core::Tensor> decided_values() const {
        std::vector<core::Tensor> decided;
        const auto outputs = observed_->outputs();
        const auto inputs = reference_->inputs();
        for (const auto& [value, input] : cut_.replaced) {
            const auto from = std::ranges::find(outputs, value, &operators::TensorSlot::name);
            const auto to = std::ranges::find(inputs, input, &operators::TensorSlot::name);
            decided.push_back(seen_as(*to->desc, outputs_[static_cast<std::size_t>(from - outputs.begin())]));
        }
        return decided;
    }

    operators::GraphCut cut_;
    std::shared_ptr<const operators::Descriptor> observed_;
    std::shared_ptr<const operators::Descriptor> reference_;
    /// All inputs of both graphs, by name.
    std::map<std::string, const core::Tensor*, std::less<>> inputs_;
    std::vector<core::Tensor> outputs_;
};

}  // namespace

bool SegmentOutput::passed() const {
    return comparison.passed() && (!precision || precision->promised.empty());
}

std::optional<SegmentVerdict> judge_segments(const operators::Descriptor& graph,
                                             std::span<const core::Tensor* const> inputs,
                                             std::span<const core::Tensor> outputs, std::span<const std::string> values,
                                             const SegmentEngine& engine) {
    return SegmentRun(graph, inputs, values).judge(outputs, engine);
}

}  // namespace dmlconform::run

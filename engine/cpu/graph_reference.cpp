// Runs a graph once without noise and several times with noise, and notes which values implementations may decide
// differently.
#include "engine/cpu/graph_reference.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/cpu/decisions.h"
#include "engine/cpu/deviations.h"
#include "engine/cpu/exact_values.h"
#include "engine/cpu/graph_chains.h"
#include "engine/cpu/graph_decisions.h"
#include "engine/cpu/graph_runs.h"
#include "engine/cpu/node_noise.h"
#include "engine/cpu/wide_slack.h"

namespace dmlconform::cpu {
namespace {

using operators::GraphNode;

/// A packed copy whose elements are at least one byte wide.
core::Tensor elements_of(const core::Tensor& tensor) {
    return core::bytes_of(tensor.desc.data_type) == 0 ? core::widened_copy(tensor) : core::packed_copy(tensor);
}

core::Tolerance tolerance_by_runs(const core::Tolerance& of_last_node) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    tolerance.alternatives = of_last_node.alternatives;
    tolerance.meaningful_part = of_last_node.meaningful_part;
    tolerance.slack_formula =
        "8 times the spread of 16 runs of the reference with rounding errors in every node (docs/graphs.md)";
    return tolerance;
}

}  // namespace

class GraphReference::Runs {
public:
    Runs(const operators::Graph& graph, std::span<const core::Tensor* const> inputs, Accumulation accumulation,
         std::size_t runs, std::function<bool()> stop_requested)
        : graph_(graph),
          runs_(graph, inputs, runs, std::move(stop_requested)),
          chains_(runs_, accumulation),
          slack_(graph.values.size()),
          undecided_(graph.values.size()) {}

    [[nodiscard]] std::optional<std::size_t> next() const {
        return position_ < runs_.reference.order().size() ? std::optional(runs_.reference.order()[position_])
                                                          : std::nullopt;
    }

    void compute_next(const HearNode& hear) {
        std::vector<GraphStep> steps = chains_.next_steps(position_);
        compute_runs(steps);
        for (GraphStep& step : steps) {
            pass_on(step, hear);
        }
        for (std::size_t done = 0; done < steps.size(); ++done) {
            runs_.release_after(position_++);
        }
    }

    Reference results() {
        Reference result;
        for (const operators::ValueIndex output : graph_.outputs) {
            const core::Tensor& computed = runs_.reference.at(output);
            const auto& producer = *graph_.values[output].producer;
            core::ElementSlack slack = std::move(slack_[output]);
            if (!runs_.noisy.empty() && !runs_.has_exact_inputs(producer.node)) {
                widen(output, computed, slack);
            }
            result.slack.push_back(std::move(slack));
            result.outputs.push_back(seen_as(computed.desc, computed));
        }
        for (const GraphNode& node : graph_.nodes) {
            for (const operators::ValueIndex value : node.inputs) {
                if (value != operators::no_value && undecided_[value]) {
                    undecided_[value] = false;  // names a value once
                    result.undecided.push_back(graph_.values[value].name);
                }
            }
        }
        return result;
    }

private:
    /// Passes the reference's results on to the nodes that read them.
    void pass_on(GraphStep& step, const HearNode& hear) {
        const GraphNode& node = graph_.nodes[step.node];
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value && runs_.is_output(node.outputs[i])) {
                slack_[node.outputs[i]] = hear ? step.computed.slack[i] : std::move(step.computed.slack[i]);
            }
        }
        if (hear) {
            hear(step.node, step.computed);
        }
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                runs_.reference.put(node.outputs[i], std::move(step.computed.outputs[i]));
            }
        }
    }

    void compute_runs(const std::vector<GraphStep>& steps) {
        if (runs_.noisy.empty() || compute_in_parts(steps)) {
            return;
        }
        for (const GraphStep& step : steps) {
            compute_runs(step.node, step.inputs, step.for_runs, step.computed);
        }
    }

    /// Computes the runs of all steps part by part, and stores those of the last one. Returns false if that is not
    /// possible.
    bool compute_in_parts(const std::vector<GraphStep>& steps) {
        std::vector<core::Tensor> outputs = chains_.compute_in_parts(steps);
        for (std::size_t run = 0; run < outputs.size(); ++run) {
            runs_.noisy[run]->put(chains_.output_of(steps.back()), std::move(outputs[run]));
        }
        for (const GraphStep& step : outputs.empty() ? std::span<const GraphStep>() : std::span(steps)) {
            note_output(graph_.nodes[step.node], 0, step.computed, false);
            note_inputs(step.node, false);
        }
        return !outputs.empty();
    }

    void compute_runs(std::size_t n, const NodeInputs& exact, std::span<const double> for_runs,
                      const Reference& reference) {
        const GraphNode& node = graph_.nodes[n];
        auto [outputs, have_noise] = runs_.outputs_together(n, exact, for_runs, reference.slack.front());
        for (std::size_t run = outputs.size(); run < runs_.noisy.size(); ++run) {
            runs_.stop_if_requested();
            auto& of_run = outputs.emplace_back(runs_.outputs_of(n, run, reference));
            if (runs_.reference.are_in_files()) {
                std::ranges::for_each(of_run, core::move_to_file);
                runs_.noisy[run]->leave_memory(node);
            }
        }
        const std::vector<bool> jumped = runs_.has_exact_inputs(n) ? std::vector<bool>(node.outputs.size())
                                                                   : decide(runs_, node, exact, reference, outputs);
        bool tied = false;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                runs_.put_with_noise(n, i, reference, outputs, have_noise);
                tied = note_output(node, i, reference, jumped[i]) || tied;
            }
        }
        if (!runs_.has_exact_inputs(n)) {
            note_inputs(n, tied || crosses_end_of_domain(runs_, node, reference));
        }
    }

    /// Remembers an output that implementations may decide differently. Returns whether runs have taken different
    /// steps.
    bool note_output(const GraphNode& node, std::size_t i, const Reference& reference, bool jumped) {
        // Where the number of meaningful elements is a result itself, nothing can go on from another one.
        if (tolerance_of(node, i).meaningful_part) {
            return false;
        }
        const operators::ValueIndex value = node.outputs[i];
        const bool steps = takes_steps(node, i);
        const bool differs = (jumped || steps) && runs_.differs_in_runs(value, reference.outputs[i]);
        undecided_[value] = differs || !reference.slack[i].alternatives.empty() ||
                            may_differ_widely(reference.slack[i], worst_by_rounding(*node.descriptor));
        return steps && differs;
    }

    /// Remembers the values that a node reads if its result follows from their bits, or if it is undecided: runs have
    /// taken different steps, or NaN on one side of a bound and any number on the other.
    void note_inputs(std::size_t n, bool is_undecided) {
        const GraphNode& node = graph_.nodes[n];
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const operators::ValueIndex value = node.inputs[i];
            if (value != operators::no_value && !runs_.exact_values[value] &&
                (is_undecided || reads_bits(*node.descriptor, i, graph_.values[value].desc.data_type))) {
                undecided_[value] = true;
            }
        }
    }

    void widen(operators::ValueIndex output, const core::Tensor& computed, core::ElementSlack& slack) const {
        const auto& producer = *graph_.values[output].producer;
        make_room(computed, tolerance_of(graph_.nodes[producer.node], producer.output), slack);
        Deviations deviations(elements_of(computed));
        for (const auto& run : runs_.noisy) {
            deviations.add(elements_of(run->at(output)));
            run->at(output).buffer.leave_memory();
        }
        deviations.widen(slack);
        if (core::is_floating_point(computed.desc.data_type)) {
            const core::Tensor packed = elements_of(computed);
            reach_neighbours(packed, slack.below);
            reach_neighbours(packed, slack.above);
        }
    }

    /// Provides bounds for a last node whose tolerance is one number for all elements.
    static void make_room(const core::Tensor& computed, const core::Tolerance& tolerance, core::ElementSlack& slack) {
        const auto count = static_cast<std::size_t>(*core::element_count(computed.desc.sizes));
        if (slack.below.size() == count) {
            return;
        }
        slack.below.assign(count, 0);
        slack.above.assign(count, 0);
        const core::Tensor packed = elements_of(computed);
        core::with_type(packed.desc.data_type, [&]<class T>() {
            const auto values = packed.as<T>();
            for (std::size_t i = 0; i < count; ++i) {
                const NoiseRange range =
                    noise_range(packed.desc.data_type, static_cast<double>(values[i]), i, tolerance, slack);
                slack.below[i] = range.below;
                slack.above[i] = range.above;
            }
        });
    }

    const operators::Graph& graph_;
    GraphRuns runs_;
    GraphChains chains_;
    /// For each output of the graph, the slack of the node that computes it.
    std::vector<core::ElementSlack> slack_;
    /// For each value, whether it is the result of decisions that may go either way.
    std::vector<bool> undecided_;
    /// The position of the next node in the order.
    std::size_t position_ = 0;
};

GraphReference::GraphReference(const operators::Graph& graph, std::span<const core::Tensor* const> inputs,
                               Accumulation accumulation, std::size_t runs, std::function<bool()> stop_requested)
    : runs_(std::make_unique<Runs>(graph, inputs, accumulation, runs, std::move(stop_requested))) {}

GraphReference::~GraphReference() = default;

std::optional<std::size_t> GraphReference::next() const {
    return runs_->next();
}

void GraphReference::compute_next(const HearNode& hear) {
    runs_->compute_next(hear);
}

Reference GraphReference::results() {
    return runs_->results();
}

core::Tolerance graph_tolerance(const operators::Graph& graph, std::string_view output) {
    const auto& producer = *graph.values[*graph.find_value(output)].producer;
    const core::Tolerance own = tolerance_of(graph.nodes[producer.node], producer.output);
    return reads_only_exact(graph, graph.nodes[producer.node]) ? own : tolerance_by_runs(own);
}

Reference compute_graph_reference(const operators::Graph& graph, std::span<const core::Tensor* const> inputs,
                                  Accumulation accumulation, std::size_t runs,
                                  const std::function<bool()>& stop_requested) {
    GraphReference reference(graph, inputs, accumulation, runs, stop_requested);
    while (reference.next()) {
        reference.compute_next();
    }
    return reference.results();
}

}  // namespace dmlconform::cpu

// Runs a graph once without noise and several times with noise, all in lockstep, so that values can be freed early.
#include "engine/cpu/graph_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/core/hash.h"
#include "engine/cpu/chain_of_runs.h"
#include "engine/cpu/decisions.h"
#include "engine/cpu/deviations.h"
#include "engine/cpu/node_noise.h"
#include "engine/cpu/wide_registers.h"
#include "engine/engine_lost.h"
#include "engine/graph_values.h"

namespace dmlconform::cpu {
namespace {

using operators::GraphNode;

core::Tolerance tolerance_of(const GraphNode& node, std::size_t output) {
    return default_tolerance(*node.descriptor, node.descriptor->outputs()[output]);
}

bool is_exact(const core::Tolerance& tolerance) {
    return tolerance.exact || (tolerance.ulp == 0u && !tolerance.abs && !tolerance.rel && !tolerance.element_slack);
}

bool reads_only(const std::vector<bool>& exact_values, const GraphNode& node) {
    return std::ranges::all_of(node.inputs,
                               [&](auto value) { return value == operators::no_value || exact_values[value]; });
}

/// For each value, whether all implementations compute exactly what the reference computes.
std::vector<bool> find_exact_values(const operators::Graph& graph) {
    std::vector<bool> exact(graph.values.size(), true);
    for (const std::size_t n : graph.execution_order()) {
        const GraphNode& node = graph.nodes[n];
        const bool exact_inputs = reads_only(exact, node);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                const core::Tolerance own = tolerance_of(node, i);
                exact[node.outputs[i]] = exact_inputs && is_exact(own) && !own.alternatives && !own.meaningful_part;
            }
        }
    }
    return exact;
}

/// For each value, how many nodes read it.
std::vector<std::size_t> count_readers(const operators::Graph& graph) {
    std::vector<std::size_t> readers(graph.values.size());
    for (const GraphNode& node : graph.nodes) {
        for (auto value = node.inputs.begin(); value != node.inputs.end(); ++value) {
            const bool is_first = std::find(node.inputs.begin(), value, *value) == value;
            if (*value != operators::no_value && is_first) {
                ++readers[*value];
            }
        }
    }
    return readers;
}

/// A packed copy whose elements are at least one byte wide.
core::Tensor elements_of(const core::Tensor& tensor) {
    return core::bytes_of(tensor.desc.data_type) == 0 ? core::widened_copy(tensor) : core::packed_copy(tensor);
}

/// Widens distances by half a unit of the type, and at least to the neighbours. Runs are stored in a tensor's type,
/// which hides errors below half a unit. An implementation with such an error may round to the neighbour all the same.
void reach_neighbours(const core::Tensor& packed, std::span<double> distances) {
    core::Tolerance one_unit;
    one_unit.ulp = 1;
    core::with_type(packed.desc.data_type, [&]<class T>() {
        const auto values = packed.as<T>();
        for (std::size_t i = 0; i < distances.size(); ++i) {
            const auto value = static_cast<double>(values[i]);
            if (std::isfinite(value)) {
                const double unit = noise_range(packed.desc.data_type, value, i, one_unit, {}).above;
                distances[i] = std::max(distances[i] + unit / 2, unit);
            }
        }
    });
}

/// True if an element is NaN in one of the tensors and a number in the other.
bool differs_in_nan(const core::Tensor& packed, const core::Tensor& other) {
    return core::with_type(packed.desc.data_type, [&]<class T>() {
        return !std::ranges::equal(packed.as<T>(), other.as<T>(), [](T a, T b) {
            return std::isnan(static_cast<double>(a)) == std::isnan(static_cast<double>(b));
        });
    });
}

bool has_infinite_bound(std::span<const double> bounds) {
    const double* const from = bounds.data();
    const std::size_t count = bounds.size();
    bool result = false;
    in_wide_registers([&] {
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < count; ++i) {
            any |= static_cast<std::uint64_t>(std::fabs(from[i]) == std::numeric_limits<double>::infinity());
        }
        result = any != 0;
    });
    return result;
}

bool has_flag(std::span<const std::uint8_t> flags) {
    const std::uint8_t* const from = flags.data();
    const std::size_t count = flags.size();
    bool result = false;
    in_wide_registers([&] {
        std::uint8_t any = 0;
        for (std::size_t i = 0; i < count; ++i) {
            any = static_cast<std::uint8_t>(any | from[i]);
        }
        result = any != 0;
    });
    return result;
}

/// True if implementations may differ by more than noise shows: where an element may be infinite or NaN in one and
/// finite in another, or where its range is far wider than its error usually is, as at the edge of an image.
bool may_differ_widely(const core::ElementSlack& slack) {
    // Sums in the worst order are off by the root of their length more than usual, which is less.
    constexpr double far = 4096;
    const std::size_t count = std::min(slack.sigma.size(), slack.below.size());
    const double* const below = slack.below.data();
    const double* const above = slack.above.data();
    const double* const sigma = slack.sigma.data();
    constexpr double largest = std::numeric_limits<double>::max();
    bool are_far = false;
    in_wide_registers([&] {
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < count; ++i) {
            // Infinite bounds are too far in any case.
            const double usual = sigma[i] > 0 ? far * sigma[i] : largest;
            const double limit = usual < largest ? usual : largest;
            any |= static_cast<std::uint64_t>(below[i] > limit) | static_cast<std::uint64_t>(above[i] > limit) |
                   static_cast<std::uint64_t>(below[i] < -largest) | static_cast<std::uint64_t>(above[i] < -largest);
        }
        are_far = any != 0;
    });
    return are_far || has_infinite_bound(std::span(slack.below).subspan(count)) ||
           has_infinite_bound(std::span(slack.above).subspan(count)) || has_flag(slack.nan) || has_flag(slack.finite);
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
          accumulation_(accumulation),
          stop_requested_(std::move(stop_requested)),
          reference_(graph),
          exact_values_(find_exact_values(graph)),
          readers_(count_readers(graph)),
          slack_(graph.values.size()),
          undecided_(graph.values.size()) {
        for (std::size_t run = 0; run < runs; ++run) {
            runs_.push_back(std::make_unique<GraphValues>(graph));
        }
        reference_.start(inputs);
        for (const auto& run : runs_) {
            run->start(inputs);
        }
    }

    [[nodiscard]] std::optional<std::size_t> next() const {
        return position_ < reference_.order().size() ? std::optional(reference_.order()[position_]) : std::nullopt;
    }

    void compute_next(const HearNode& hear) {
        std::vector<Step> steps;
        add_step(steps);
        while (has_follower(steps)) {
            add_step(steps);
        }
        compute_runs(steps);
        for (Step& step : steps) {
            pass_on(step, hear);
        }
        for (std::size_t done = 0; done < steps.size(); ++done) {
            reference_.release_after(position_);
            for (const auto& run : runs_) {
                run->release_after(position_);
            }
            ++position_;
        }
    }

    Reference results() {
        Reference result;
        for (const operators::ValueIndex output : graph_.outputs) {
            const core::Tensor& computed = reference_.at(output);
            const auto& producer = *graph_.values[output].producer;
            core::ElementSlack slack = std::move(slack_[output]);
            if (!runs_.empty() && !has_exact_inputs(producer.node)) {
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
    /// A node with the reference's results.
    struct Step {
        std::size_t node = 0;
        NodeInputs inputs = {};
        std::vector<double> for_runs = {};
        Reference computed = {};
        /// Empty unless its runs can be computed element by element.
        std::optional<ElementByElement> formula = {};
        core::Tolerance tolerance = {};
    };

    [[nodiscard]] bool is_output(operators::ValueIndex value) const {
        return std::ranges::find(graph_.outputs, value) != graph_.outputs.end();
    }

    [[nodiscard]] bool has_exact_inputs(std::size_t n) const { return reads_only(exact_values_, graph_.nodes[n]); }

    void stop_if_requested() const {
        if (stop_requested_ && stop_requested_()) {
            throw EngineLost(EngineLost::Kind::interrupted, "the run was interrupted while a graph was computed");
        }
    }

    /// Computes the next node's reference.
    void add_step(std::vector<Step>& steps) const {
        stop_if_requested();
        Step step{.node = reference_.order()[position_ + steps.size()]};
        const GraphNode& node = graph_.nodes[step.node];
        step.inputs = steps.empty() ? reference_.inputs_of(node) : inputs_behind(node, steps.back());
        const bool is_wanted = !runs_.empty() && !has_exact_inputs(step.node) && may_compute_runs(*node.descriptor);
        step.computed = compute_reference(*node.descriptor, step.inputs.tensors, accumulation_,
                                          is_wanted ? &step.for_runs : nullptr);
        if (has_parts(step.node)) {
            step.tolerance = tolerance_of(node, 0);
            step.formula = formula_of(step.node, step.inputs.tensors);
        }
        steps.push_back(std::move(step));
    }

    [[nodiscard]] operators::ValueIndex output_of(const Step& step) const { return graph_.nodes[step.node].outputs[0]; }

    /// The inputs of a node that reads what the step before it computes.
    [[nodiscard]] NodeInputs inputs_behind(const GraphNode& node, const Step& before) const {
        return reference_.inputs_of(node, output_of(before), before.computed.outputs[0]);
    }

    /// How the runs of a node can be computed, and noise added to them, element by element. Empty if that is not
    /// possible.
    [[nodiscard]] std::optional<ElementByElement> formula_of(std::size_t n,
                                                             std::span<const core::Tensor* const> inputs) const {
        const GraphNode& node = graph_.nodes[n];
        const Kernel& kernel = *find_kernel(node.descriptor->schema->short_name());
        if (!kernel.by_element || !has_parts(n)) {
            return std::nullopt;
        }
        const core::Tolerance tolerance = tolerance_of(node, 0);
        auto formula = kernel.by_element(*node.descriptor, inputs);
        if (tolerance.alternatives || tolerance.meaningful_part || !formula ||
            formula->inputs.size() > ChainOfRuns::most_inputs) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const operators::ValueIndex value = node.inputs[i];
            const bool is_given = value == operators::no_value || exact_values_[value];
            const bool is_element = std::ranges::find(formula->inputs, i) != formula->inputs.end();
            if (is_element ? graph_.values[value].desc != *node.descriptor->inputs()[i].desc : !is_given) {
                return std::nullopt;
            }
        }
        return formula;
    }

    /// True if the runs of a node may be computed in parts, as far as the graph is concerned.
    [[nodiscard]] bool has_parts(std::size_t n) const {
        const GraphNode& node = graph_.nodes[n];
        return !runs_.empty() && runs_.size() <= ChainOfRuns::most_runs && !reference_.are_in_files() &&
               !has_exact_inputs(n) && node.outputs.size() == 1 && node.outputs[0] != operators::no_value &&
               decision_of(*node.descriptor, 0) == Decision::none;
    }

    /// True if the next node can be computed in the same parts, so that nobody reads the runs of the last step.
    [[nodiscard]] bool has_follower(const std::vector<Step>& steps) const {
        const Step& last = steps.back();
        const std::size_t next = position_ + steps.size();
        if (steps.size() == most_steps || next == reference_.order().size() || !has_parts(last.node) ||
            !(last.formula || has_noise_in_parts(last))) {
            return false;
        }
        const operators::ValueIndex value = output_of(last);
        const GraphNode& node = graph_.nodes[reference_.order()[next]];
        if (exact_values_[value] || is_output(value) || readers_[value] != 1 ||
            std::ranges::find(node.inputs, value) == node.inputs.end()) {
            return false;
        }
        const auto formula = formula_of(reference_.order()[next], inputs_behind(node, last).tensors);
        return formula && std::ranges::any_of(formula->inputs, [&](std::size_t i) { return node.inputs[i] == value; });
    }

    /// True if the runs of a node are computed together, and noise is added to parts of them.
    [[nodiscard]] bool has_noise_in_parts(const Step& step) const {
        return !step.for_runs.empty() && noise_of(step).has_rows(step.computed.outputs[0].desc);
    }

    [[nodiscard]] static NodeNoise noise_of(const Step& step) {
        return {step.tolerance, step.computed.slack[0], seed_of(step.node, 0)};
    }

    /// Passes the reference's results on to the nodes that read them.
    void pass_on(Step& step, const HearNode& hear) {
        const GraphNode& node = graph_.nodes[step.node];
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value && is_output(node.outputs[i])) {
                slack_[node.outputs[i]] = hear ? step.computed.slack[i] : std::move(step.computed.slack[i]);
            }
        }
        if (hear) {
            hear(step.node, step.computed);
        }
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                reference_.put(node.outputs[i], std::move(step.computed.outputs[i]));
            }
        }
    }

    void compute_runs(const std::vector<Step>& steps) {
        if (runs_.empty() || compute_in_parts(steps)) {
            return;
        }
        for (const Step& step : steps) {
            compute_runs(step.node, step.inputs, step.for_runs, step.computed);
        }
    }

    /// Computes the runs of all steps part by part, and stores those of the last one. Returns false if that is not
    /// possible.
    bool compute_in_parts(const std::vector<Step>& steps) {
        const std::size_t first = steps.front().formula ? 0 : 1;
        if (first == steps.size()) {
            return false;
        }
        std::vector<NodeNoise> noise;
        noise.reserve(steps.size());
        std::vector<ChainLink> chain;
        for (std::size_t i = first; i < steps.size(); ++i) {
            const NodeNoise& own = noise.emplace_back(noise_of(steps[i]));
            chain.push_back(link_of(steps[i], i == 0 ? operators::no_value : output_of(steps[i - 1])));
            const bool moves = own.has_rows(steps[i].computed.outputs[0].desc) && !own.is_silent();
            chain.back().noise = moves ? &own : nullptr;
        }
        std::vector<core::Tensor> outputs = outputs_in_parts(steps.front(), ChainOfRuns(std::move(chain)));
        for (std::size_t run = 0; run < outputs.size(); ++run) {
            outputs[run].desc = steps.back().computed.outputs[0].desc;
            runs_[run]->put(output_of(steps.back()), std::move(outputs[run]));
        }
        for (const Step& step : outputs.empty() ? std::span<const Step>() : std::span(steps)) {
            note_output(graph_.nodes[step.node], 0, step.computed, false);
            note_inputs(step.node, false);
        }
        return !outputs.empty();
    }

    /// `before` is the value that the link before it computes.
    [[nodiscard]] ChainLink link_of(const Step& step, operators::ValueIndex before) const {
        ChainLink link{.formula = &*step.formula};
        for (const std::size_t i : step.formula->inputs) {
            const operators::ValueIndex value = graph_.nodes[step.node].inputs[i];
            auto& of_runs = link.given.emplace_back();
            for (const auto& run : value == before ? std::span<const std::unique_ptr<GraphValues>>() : runs_) {
                of_runs.push_back(run->at(value).as<float>().data());
            }
        }
        return link;
    }

    /// The outputs of all runs behind a node and what follows it, or of a chain that starts with the node.
    [[nodiscard]] std::vector<core::Tensor> outputs_in_parts(const Step& first, const ChainOfRuns& chain) const {
        const GraphNode& node = graph_.nodes[first.node];
        const core::TensorDesc& desc = *node.descriptor->outputs().front().desc;
        std::vector<core::Tensor> outputs;
        if (first.formula) {
            std::vector<float*> elements;
            for (const auto& run : runs_) {
                elements.push_back(outputs.emplace_back(run->new_tensor(desc)).as<float>().data());
            }
            chain.compute_all(static_cast<std::int64_t>(*core::element_count(desc.sizes)), elements);
            return outputs;
        }
        for (auto& of_run :
             outputs_together(first.node, first.inputs, first.for_runs, first.computed.slack.front(), &chain).of_runs) {
            outputs.push_back(std::move(of_run.front()));
        }
        return outputs;
    }

    void compute_runs(std::size_t n, const NodeInputs& exact, std::span<const double> for_runs,
                      const Reference& reference) {
        const GraphNode& node = graph_.nodes[n];
        auto [outputs, have_noise] = outputs_together(n, exact, for_runs, reference.slack.front());
        for (std::size_t run = outputs.size(); run < runs_.size(); ++run) {
            stop_if_requested();
            auto& of_run = outputs.emplace_back(outputs_of(n, run, reference));
            if (reference_.are_in_files()) {
                std::ranges::for_each(of_run, core::move_to_file);
                runs_[run]->leave_memory(node);
            }
        }
        const std::vector<bool> jumped =
            has_exact_inputs(n) ? std::vector<bool>(node.outputs.size()) : decide(node, exact, reference, outputs);
        bool tied = false;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                put_with_noise(n, i, reference, outputs, have_noise);
                tied = note_output(node, i, reference, jumped[i]) || tied;
            }
        }
        if (!has_exact_inputs(n)) {
            note_inputs(n, tied || crosses_end_of_domain(node, reference));
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
        const bool differs = (jumped || steps) && differs_in_runs(value, reference.outputs[i]);
        undecided_[value] = differs || may_differ_widely(reference.slack[i]);
        return steps && differs;
    }

    /// Remembers the values that a node reads if its result follows from their bits, or if it is undecided: runs have
    /// taken different steps, or NaN on one side of a bound and any number on the other.
    void note_inputs(std::size_t n, bool is_undecided) {
        const GraphNode& node = graph_.nodes[n];
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const operators::ValueIndex value = node.inputs[i];
            if (value != operators::no_value && !exact_values_[value] &&
                (is_undecided || reads_bits(*node.descriptor, i, graph_.values[value].desc.data_type))) {
                undecided_[value] = true;
            }
        }
    }

    /// True if an element that is NaN in the reference is a number in some run, or the other way round.
    [[nodiscard]] bool crosses_end_of_domain(const GraphNode& node, const Reference& reference) const {
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] == operators::no_value || decision_of(*node.descriptor, i) != Decision::jumps) {
                continue;
            }
            const core::Tensor expected = flat(reference.outputs[i]);
            if (std::ranges::any_of(
                    runs_, [&](const auto& run) { return differs_in_nan(expected, flat(run->at(node.outputs[i]))); })) {
                return true;
            }
        }
        return false;
    }

    static bool takes_steps(const GraphNode& node, std::size_t output) {
        const Decision decision = decision_of(*node.descriptor, output);
        return decision == Decision::steps || decision == Decision::picks;
    }

    /// Stores an output of all runs, with the node's own errors unless it has them. Errors depend on the positions of
    /// the node and of the output, because a graph that was sent to another process may number its values differently.
    void put_with_noise(std::size_t n, std::size_t i, const Reference& reference,
                        std::vector<std::vector<core::Tensor>>& outputs, bool have_noise) const {
        const GraphNode& node = graph_.nodes[n];
        const core::Tolerance tolerance = tolerance_of(node, i);
        const NodeNoise noise(tolerance, reference.slack[i], seed_of(n, i));
        std::vector<core::Tensor*> of_runs;
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            of_runs.push_back(&runs_[run]->put(node.outputs[i], std::move(outputs[run][i])));
        }
        if (!have_noise && !noise.is_silent()) {
            noise.add_to_all(of_runs);
        }
        std::ranges::for_each(of_runs, [](const core::Tensor* output) { output->buffer.leave_memory(); });
    }

    static std::uint64_t seed_of(std::size_t n, std::size_t output) { return core::mixed(n << 8 | (output + 1)); }

    /// True if some runs have another value than the reference.
    [[nodiscard]] bool differs_in_runs(operators::ValueIndex value, const core::Tensor& expected) const {
        const auto bytes = expected.buffer.bytes();
        return std::ranges::any_of(runs_, [&](const auto& run) {
            const core::Buffer& of_run = run->at(value).buffer;
            const bool differs = !std::ranges::equal(of_run.bytes(), bytes);
            of_run.leave_memory();
            return differs;
        });
    }

    /// The outputs of a node in all runs.
    struct OutputsTogether {
        /// Empty if they have to be computed one by one.
        std::vector<std::vector<core::Tensor>> of_runs = {};
        /// True if noise was added to parts that were still in the caches.
        bool have_noise = false;
    };

    /// The chain of what follows, if there is one, goes on with the same parts.
    OutputsTogether outputs_together(std::size_t n, const NodeInputs& exact, std::span<const double> for_runs,
                                     const core::ElementSlack& slack, const ChainOfRuns* chain = nullptr) const {
        if (for_runs.empty()) {
            return {};
        }
        const GraphNode& node = graph_.nodes[n];
        std::vector<NodeInputs> inputs;
        InputsOfRuns all{.of_reference = exact.tensors, .for_runs = for_runs, .differs = {}, .of_runs = {}};
        for (const auto& run : runs_) {
            NodeInputs& of_run = inputs.emplace_back(run->inputs_of(node));
            all.of_runs.emplace_back(of_run.tensors);
            if (reference_.are_in_files()) {
                std::ranges::for_each(of_run.views, core::move_to_file);
            }
        }
        for (const operators::ValueIndex value : node.inputs) {
            all.differs.push_back(value != operators::no_value && !exact_values_[value]);
        }
        const auto new_output = [this](std::size_t run, const core::TensorDesc& desc) {
            return reference_.are_in_files() ? core::tensor_in_file(desc) : runs_[run]->new_tensor(desc);
        };
        const core::Tolerance tolerance = tolerance_of(node, 0);
        const NodeNoise noise(tolerance, slack, seed_of(n, 0));
        const bool adds_noise = node.outputs.size() == 1 && decision_of(*node.descriptor, 0) == Decision::none &&
                                noise.has_rows(*node.descriptor->outputs().front().desc);
        const auto change = [&](std::int64_t first, std::int64_t count, float* elements, std::int64_t next) {
            if (adds_noise) {
                noise.prefetch_part(next, count);
                noise.add_to_part(first, count, runs_.size(), elements);
            }
            if (chain != nullptr) {
                chain->prefetch(next, count);
                chain->compute(first, count, runs_.size(), elements);
            }
        };
        auto outputs = compute_outputs_of_runs(
            *node.descriptor, all, new_output, [this] { stop_if_requested(); }, change);
        for (std::size_t run = 0; run < outputs.size(); ++run) {
            for (const core::Tensor& output : outputs[run]) {
                output.buffer.leave_memory();
            }
            runs_[run]->leave_memory(node);
        }
        const bool have_noise = adds_noise && !outputs.empty();
        return {std::move(outputs), have_noise};
    }

    /// The outputs of a node in a run, before noise is added.
    std::vector<core::Tensor> outputs_of(std::size_t n, std::size_t run, const Reference& reference) const {
        const GraphNode& node = graph_.nodes[n];
        if (!has_exact_inputs(n)) {
            return compute_outputs(
                *node.descriptor, runs_[run]->inputs_of(node).tensors,
                [&](std::size_t /*run*/, const core::TensorDesc& desc) { return runs_[run]->new_tensor(desc); });
        }
        std::vector<core::Tensor> outputs;
        for (const core::Tensor& output : reference.outputs) {
            outputs.push_back(output.buffer.bytes().empty() ? core::Tensor() : seen_as(output.desc, output));
        }
        return outputs;
    }

    /// Takes decisions both ways, in all runs. Returns which outputs jumped in one of them.
    std::vector<bool> decide(const GraphNode& node, const NodeInputs& exact, const Reference& reference,
                             std::vector<std::vector<core::Tensor>>& outputs) const {
        std::vector<Decision> decisions;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const bool is_present = node.outputs[i] != operators::no_value;
            decisions.push_back(is_present ? decision_of(*node.descriptor, i) : Decision::none);
        }
        std::vector<bool> jumped(decisions.size());
        if (std::ranges::all_of(decisions, [](Decision decision) { return decision == Decision::none; })) {
            return jumped;
        }
        const auto distances = distances_of(node, exact, decisions);
        std::vector<std::vector<double>> spreads(decisions.size());
        for (std::size_t i = 0; i < decisions.size(); ++i) {
            if (decisions[i] == Decision::jumps) {
                spreads[i] = spreads_of(reference.outputs[i], outputs, i);
            }
        }
        const bool picks = std::ranges::find(decisions, Decision::picks) != decisions.end();
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            std::vector<core::Tensor> moved = moved_outputs(node, run, distances, picks);
            for (std::size_t i = 0; i < decisions.size(); ++i) {
                if (decisions[i] == Decision::jumps) {
                    jumped[i] = take_jumps(moved[i], spreads[i], outputs[run][i]) || jumped[i];
                } else if (decisions[i] != Decision::none) {
                    outputs[run][i] = std::move(moved[i]);
                }
                if (reference_.are_in_files()) {
                    core::move_to_file(outputs[run][i]);
                }
            }
            runs_[run]->leave_memory(node);
        }
        return jumped;
    }

    static std::vector<double> spreads_of(const core::Tensor& expected,
                                          const std::vector<std::vector<core::Tensor>>& outputs, std::size_t i) {
        Deviations deviations(flat(expected));
        for (const auto& of_run : outputs) {
            deviations.add(flat(of_run[i]));
            of_run[i].buffer.leave_memory();
        }
        return deviations.spreads();
    }

    /// For each input of a deciding node, the distance by which each element is moved; empty for inputs that are not
    /// moved.
    [[nodiscard]] std::vector<std::vector<double>> distances_of(const GraphNode& node, const NodeInputs& exact,
                                                                std::span<const Decision> decisions) const {
        const bool only_rounds = std::ranges::all_of(decisions, [](Decision decision) {
            return decision == Decision::none || decision == Decision::rounds_to_float16;
        });
        std::vector<std::vector<double>> distances(exact.tensors.size());
        for (std::size_t i = 0; i < distances.size(); ++i) {
            if (!takes_part(*node.descriptor, i)) {
                continue;
            }
            const core::Tensor& tensor = *exact.tensors[i];
            Deviations deviations(flat(tensor));
            for (const auto& run : runs_) {
                deviations.add(flat(*run->inputs_of(node).tensors[i]));
                run->leave_memory(node);
            }
            distances[i] = deviations.bounds();
            if (only_rounds) {
                limit_to_half_steps(tensor, distances[i]);
            } else if (!exact_values_[node.inputs[i]]) {
                reach_neighbours(flat(tensor), distances[i]);
            }
        }
        return distances;
    }

    /// The tensor's memory as one row, which makes strides irrelevant.
    static core::Tensor flat(const core::Tensor& tensor) {
        const std::uint32_t width = core::bytes_of(tensor.desc.data_type);
        const auto count = static_cast<std::uint32_t>(tensor.desc.total_bytes / width);
        core::TensorDesc desc = core::TensorDesc::packed(tensor.desc.data_type, {count});
        desc.total_bytes = tensor.desc.total_bytes;
        return seen_as(desc, tensor);
    }

    /// The outputs of a deciding node in a run, with inputs that are moved by these distances.
    [[nodiscard]] std::vector<core::Tensor> moved_outputs(const GraphNode& node, std::size_t run,
                                                          const std::vector<std::vector<double>>& distances,
                                                          bool picks) const {
        NodeInputs inputs = runs_[run]->inputs_of(node);
        std::vector<core::Tensor> moved;
        moved.reserve(distances.size());
        for (std::size_t i = 0; i < distances.size(); ++i) {
            if (!distances[i].empty()) {
                // Two inputs that are compared move towards each other in half of the runs and apart in the other half.
                constexpr std::size_t different_patterns = 4;
                const std::size_t turn = picks ? run : run >> (moved.size() % different_patterns);
                moved.push_back(seen_as(inputs.tensors[i]->desc, *inputs.tensors[i]));
                move_across_bounds(moved.back(), distances[i], turn, core::mixed(i + 1), picks);
                inputs.tensors[i] = &moved.back();
            }
        }
        return compute_outputs(*node.descriptor, inputs.tensors);
    }

    void widen(operators::ValueIndex output, const core::Tensor& computed, core::ElementSlack& slack) const {
        const auto& producer = *graph_.values[output].producer;
        make_room(computed, tolerance_of(graph_.nodes[producer.node], producer.output), slack);
        Deviations deviations(elements_of(computed));
        for (const auto& run : runs_) {
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

    /// The most nodes whose results are in memory at once: a product, its normalisation, a sum and an activation.
    static constexpr std::size_t most_steps = 4;

    const operators::Graph& graph_;
    Accumulation accumulation_;
    std::function<bool()> stop_requested_;
    GraphValues reference_;
    std::vector<bool> exact_values_;
    /// How many nodes read each value.
    std::vector<std::size_t> readers_;
    std::vector<std::unique_ptr<GraphValues>> runs_;
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
    return reads_only(find_exact_values(graph), graph.nodes[producer.node]) ? own : tolerance_by_runs(own);
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

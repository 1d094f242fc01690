// Chains start with a node whose runs are computed together, or with one that is computed element by element.
#include "engine/cpu/graph_chains.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/cpu/decisions.h"
#include "engine/cpu/exact_values.h"

namespace dmlconform::cpu {

using operators::GraphNode;

namespace {

/// The most nodes whose results are in memory at once: a product, its normalisation, a sum and an activation.
constexpr std::size_t most_steps = 4;

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

}  // namespace

GraphChains::GraphChains(const GraphRuns& runs, Accumulation accumulation)
    : runs_(runs), accumulation_(accumulation), readers_(count_readers(runs.graph)) {}

operators::ValueIndex GraphChains::output_of(const GraphStep& step) const {
    return runs_.graph.nodes[step.node].outputs[0];
}

std::vector<GraphStep> GraphChains::next_steps(std::size_t position) const {
    std::vector<GraphStep> steps;
    add_step(position, steps);
    while (has_follower(position, steps)) {
        add_step(position, steps);
    }
    return steps;
}

void GraphChains::add_step(std::size_t position, std::vector<GraphStep>& steps) const {
    runs_.stop_if_requested();
    GraphStep step{.node = runs_.reference.order()[position + steps.size()]};
    const GraphNode& node = runs_.graph.nodes[step.node];
    step.inputs = steps.empty() ? runs_.reference.inputs_of(node) : inputs_behind(node, steps.back());
    const bool is_wanted =
        !runs_.noisy.empty() && !runs_.has_exact_inputs(step.node) && may_compute_runs(*node.descriptor);
    step.computed =
        compute_reference(*node.descriptor, step.inputs.tensors, accumulation_, is_wanted ? &step.for_runs : nullptr);
    if (has_parts(step.node)) {
        step.tolerance = tolerance_of(node, 0);
        step.formula = formula_of(step.node, step.inputs.tensors);
    }
    steps.push_back(std::move(step));
}

NodeInputs GraphChains::inputs_behind(const GraphNode& node, const GraphStep& before) const {
    return runs_.reference.inputs_of(node, output_of(before), before.computed.outputs[0]);
}

std::optional<ElementByElement> GraphChains::formula_of(std::size_t n,
                                                        std::span<const core::Tensor* const> inputs) const {
    const GraphNode& node = runs_.graph.nodes[n];
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
        const bool is_given = value == operators::no_value || runs_.exact_values[value];
        const bool is_element = std::ranges::find(formula->inputs, i) != formula->inputs.end();
        if (is_element ? runs_.graph.values[value].desc != *node.descriptor->inputs()[i].desc : !is_given) {
            return std::nullopt;
        }
    }
    return formula;
}

bool GraphChains::has_parts(std::size_t n) const {
    const GraphNode& node = runs_.graph.nodes[n];
    return !runs_.noisy.empty() && runs_.noisy.size() <= ChainOfRuns::most_runs && !runs_.reference.are_in_files() &&
           !runs_.has_exact_inputs(n) && node.outputs.size() == 1 && node.outputs[0] != operators::no_value &&
           decision_of(*node.descriptor, 0) == Decision::none;
}

bool GraphChains::has_follower(std::size_t position, const std::vector<GraphStep>& steps) const {
    const GraphStep& last = steps.back();
    const std::size_t next = position + steps.size();
    if (steps.size() == most_steps || next == runs_.reference.order().size() || !has_parts(last.node) ||
        !(last.formula || has_noise_in_parts(last))) {
        return false;
    }
    const operators::ValueIndex value = output_of(last);
    const GraphNode& node = runs_.graph.nodes[runs_.reference.order()[next]];
    if (runs_.exact_values[value] || runs_.is_output(value) || readers_[value] != 1 ||
        std::ranges::find(node.inputs, value) == node.inputs.end()) {
        return false;
    }
    const auto formula = formula_of(runs_.reference.order()[next], inputs_behind(node, last).tensors);
    return formula && std::ranges::any_of(formula->inputs, [&](std::size_t i) { return node.inputs[i] == value; });
}

bool GraphChains::has_noise_in_parts(const GraphStep& step) const {
    return !step.for_runs.empty() && noise_of(step).has_rows(step.computed.outputs[0].desc);
}

NodeNoise GraphChains::noise_of(const GraphStep& step) {
    return {step.tolerance, step.computed.slack[0], GraphRuns::seed_of(step.node, 0)};
}

std::vector<core::Tensor> GraphChains::compute_in_parts(const std::vector<GraphStep>& steps) const {
    const std::size_t first = steps.front().formula ? 0 : 1;
    if (first == steps.size()) {
        return {};
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
    for (core::Tensor& output : outputs) {
        output.desc = steps.back().computed.outputs[0].desc;
    }
    return outputs;
}

ChainLink GraphChains::link_of(const GraphStep& step, operators::ValueIndex before) const {
    ChainLink link{.formula = &*step.formula};
    for (const std::size_t i : step.formula->inputs) {
        const operators::ValueIndex value = runs_.graph.nodes[step.node].inputs[i];
        auto& of_runs = link.given.emplace_back();
        for (const auto& run : value == before ? std::span<const std::unique_ptr<GraphValues>>() : runs_.noisy) {
            of_runs.push_back(run->at(value).as<float>().data());
        }
    }
    return link;
}

std::vector<core::Tensor> GraphChains::outputs_in_parts(const GraphStep& first, const ChainOfRuns& chain) const {
    const GraphNode& node = runs_.graph.nodes[first.node];
    const core::TensorDesc& desc = *node.descriptor->outputs().front().desc;
    std::vector<core::Tensor> outputs;
    if (first.formula) {
        std::vector<float*> elements;
        for (const auto& run : runs_.noisy) {
            elements.push_back(outputs.emplace_back(run->new_tensor(desc)).as<float>().data());
        }
        chain.compute_all(static_cast<std::int64_t>(*core::element_count(desc.sizes)), elements);
        return outputs;
    }
    for (auto& of_run :
         runs_.outputs_together(first.node, first.inputs, first.for_runs, first.computed.slack.front(), &chain)
             .of_runs) {
        outputs.push_back(std::move(of_run.front()));
    }
    return outputs;
}

}  // namespace dmlconform::cpu

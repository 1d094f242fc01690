// Computes the runs of a node: all of them together where its kernel can, and otherwise one by one.
#include "engine/cpu/graph_runs.h"

#include <algorithm>
#include <utility>

#include "engine/core/hash.h"
#include "engine/cpu/decisions.h"
#include "engine/cpu/exact_values.h"
#include "engine/engine_lost.h"

namespace dmlconform::cpu {

using operators::GraphNode;

GraphRuns::GraphRuns(const operators::Graph& of_graph, std::span<const core::Tensor* const> inputs, std::size_t count,
                     std::function<bool()> asks_for_stop)
    : graph(of_graph),
      reference(of_graph),
      exact_values(find_exact_values(of_graph)),
      stop_requested(std::move(asks_for_stop)) {
    for (std::size_t run = 0; run < count; ++run) {
        noisy.push_back(std::make_unique<GraphValues>(graph));
    }
    reference.start(inputs);
    for (const auto& run : noisy) {
        run->start(inputs);
    }
}

bool GraphRuns::is_output(operators::ValueIndex value) const {
    return std::ranges::find(graph.outputs, value) != graph.outputs.end();
}

bool GraphRuns::has_exact_inputs(std::size_t n) const {
    return reads_only(exact_values, graph.nodes[n]);
}

void GraphRuns::stop_if_requested() const {
    if (stop_requested && stop_requested()) {
        throw EngineLost(EngineLost::Kind::interrupted, "the run was interrupted while a graph was computed");
    }
}

void GraphRuns::release_after(std::size_t position) {
    reference.release_after(position);
    for (const auto& run : noisy) {
        run->release_after(position);
    }
}

std::uint64_t GraphRuns::seed_of(std::size_t n, std::size_t output) {
    return core::mixed(n << 8 | (output + 1));
}

GraphRuns::OutputsTogether GraphRuns::outputs_together(std::size_t n, const NodeInputs& exact,
                                                       std::span<const double> for_runs,
                                                       const core::ElementSlack& slack,
                                                       const ChainOfRuns* chain) const {
    if (for_runs.empty()) {
        return {};
    }
    const GraphNode& node = graph.nodes[n];
    std::vector<NodeInputs> inputs;
    InputsOfRuns all{.of_reference = exact.tensors, .for_runs = for_runs, .differs = {}, .of_runs = {}};
    for (const auto& run : noisy) {
        NodeInputs& of_run = inputs.emplace_back(run->inputs_of(node));
        all.of_runs.emplace_back(of_run.tensors);
        if (reference.are_in_files()) {
            std::ranges::for_each(of_run.views, core::move_to_file);
        }
    }
    for (const operators::ValueIndex value : node.inputs) {
        all.differs.push_back(value != operators::no_value && !exact_values[value]);
    }
    const auto new_output = [this](std::size_t run, const core::TensorDesc& desc) {
        return reference.are_in_files() ? core::tensor_in_file(desc) : noisy[run]->new_tensor(desc);
    };
    const core::Tolerance tolerance = tolerance_of(node, 0);
    const NodeNoise noise(tolerance, slack, seed_of(n, 0));
    const bool adds_noise = node.outputs.size() == 1 && decision_of(*node.descriptor, 0) == Decision::none &&
                            noise.has_rows(*node.descriptor->outputs().front().desc);
    const auto change = [&](std::int64_t first, std::int64_t count, float* elements, std::int64_t next) {
        if (adds_noise) {
            noise.prefetch_part(next, count);
            noise.add_to_part(first, count, noisy.size(), elements);
        }
        if (chain != nullptr) {
            chain->prefetch(next, count);
            chain->compute(first, count, noisy.size(), elements);
        }
    };
    auto outputs = compute_outputs_of_runs(
        *node.descriptor, all, new_output, [this] { stop_if_requested(); }, change);
    for (std::size_t run = 0; run < outputs.size(); ++run) {
        for (const core::Tensor& output : outputs[run]) {
            output.buffer.leave_memory();
        }
        noisy[run]->leave_memory(node);
    }
    const bool have_noise = adds_noise && !outputs.empty();
    return {std::move(outputs), have_noise};
}

std::vector<core::Tensor> GraphRuns::outputs_of(std::size_t n, std::size_t run, const Reference& computed) const {
    const GraphNode& node = graph.nodes[n];
    if (!has_exact_inputs(n)) {
        return compute_outputs(
            *node.descriptor, noisy[run]->inputs_of(node).tensors,
            [&](std::size_t /*run*/, const core::TensorDesc& desc) { return noisy[run]->new_tensor(desc); });
    }
    std::vector<core::Tensor> outputs;
    for (const core::Tensor& output : computed.outputs) {
        outputs.push_back(output.buffer.bytes().empty() ? core::Tensor() : seen_as(output.desc, output));
    }
    return outputs;
}

void GraphRuns::put_with_noise(std::size_t n, std::size_t i, const Reference& computed,
                               std::vector<std::vector<core::Tensor>>& outputs, bool have_noise) const {
    const GraphNode& node = graph.nodes[n];
    const core::Tolerance tolerance = tolerance_of(node, i);
    const NodeNoise noise(tolerance, computed.slack[i], seed_of(n, i));
    std::vector<core::Tensor*> of_runs;
    for (std::size_t run = 0; run < noisy.size(); ++run) {
        of_runs.push_back(&noisy[run]->put(node.outputs[i], std::move(outputs[run][i])));
    }
    if (!have_noise && !noise.is_silent()) {
        noise.add_to_all(of_runs);
    }
    std::ranges::for_each(of_runs, [](const core::Tensor* output) { output->buffer.leave_memory(); });
}

bool GraphRuns::differs_in_runs(operators::ValueIndex value, const core::Tensor& expected) const {
    const auto bytes = expected.buffer.bytes();
    return std::ranges::any_of(noisy, [&](const auto& run) {
        const core::Buffer& of_run = run->at(value).buffer;
        const bool differs = !std::ranges::equal(of_run.bytes(), bytes);
        of_run.leave_memory();
        return differs;
    });
}

}  // namespace dmlconform::cpu

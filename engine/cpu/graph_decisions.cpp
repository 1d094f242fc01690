// Moves the inputs of a deciding node as far as its runs differ, and computes it again.
#include "engine/cpu/graph_decisions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/core/hash.h"
#include "engine/cpu/decisions.h"
#include "engine/cpu/deviations.h"

namespace dmlconform::cpu {

using operators::GraphNode;

namespace {

/// The tensor's memory as one row, which makes strides irrelevant.
core::Tensor flat(const core::Tensor& tensor) {
    const std::uint32_t width = core::bytes_of(tensor.desc.data_type);
    const auto count = static_cast<std::uint32_t>(tensor.desc.total_bytes / width);
    core::TensorDesc desc = core::TensorDesc::packed(tensor.desc.data_type, {count});
    desc.total_bytes = tensor.desc.total_bytes;
    return seen_as(desc, tensor);
}

/// True if an element is NaN in one of the tensors and a number in the other.
bool differs_in_nan(const core::Tensor& packed, const core::Tensor& other) {
    return core::with_type(packed.desc.data_type, [&]<class T>() {
        return !std::ranges::equal(packed.as<T>(), other.as<T>(), [](T a, T b) {
            return std::isnan(static_cast<double>(a)) == std::isnan(static_cast<double>(b));
        });
    });
}

std::vector<double> spreads_of(const core::Tensor& expected, const std::vector<std::vector<core::Tensor>>& outputs,
                               std::size_t i) {
    Deviations deviations(flat(expected));
    for (const auto& of_run : outputs) {
        deviations.add(flat(of_run[i]));
        of_run[i].buffer.leave_memory();
    }
    return deviations.spreads();
}

/// For each input of a deciding node, the distance by which each element is moved; empty for inputs that are not moved.
std::vector<std::vector<double>> distances_of(const GraphRuns& runs, const GraphNode& node, const NodeInputs& exact,
                                              std::span<const Decision> decisions) {
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
        for (const auto& run : runs.noisy) {
            deviations.add(flat(*run->inputs_of(node).tensors[i]));
            run->leave_memory(node);
        }
        distances[i] = deviations.bounds();
        if (only_rounds) {
            limit_to_half_steps(tensor, distances[i]);
        } else if (!runs.exact_values[node.inputs[i]]) {
            reach_neighbours(flat(tensor), distances[i]);
        }
    }
    return distances;
}

/// The outputs of a deciding node in a run, with inputs that are moved by these distances.
std::vector<core::Tensor> moved_outputs(const GraphValues& values, const GraphNode& node, std::size_t run,
                                        const std::vector<std::vector<double>>& distances, bool picks) {
    NodeInputs inputs = values.inputs_of(node);
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

}  // namespace

std::vector<bool> decide(const GraphRuns& runs, const GraphNode& node, const NodeInputs& exact,
                         const Reference& reference, std::vector<std::vector<core::Tensor>>& outputs) {
    std::vector<Decision> decisions;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const bool is_present = node.outputs[i] != operators::no_value;
        decisions.push_back(is_present ? decision_of(*node.descriptor, i) : Decision::none);
    }
    std::vector<bool> jumped(decisions.size());
    if (std::ranges::all_of(decisions, [](Decision decision) { return decision == Decision::none; })) {
        return jumped;
    }
    const auto distances = distances_of(runs, node, exact, decisions);
    std::vector<std::vector<double>> spreads(decisions.size());
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        if (decisions[i] == Decision::jumps) {
            spreads[i] = spreads_of(reference.outputs[i], outputs, i);
        }
    }
    const bool picks = std::ranges::find(decisions, Decision::picks) != decisions.end();
    for (std::size_t run = 0; run < runs.noisy.size(); ++run) {
        std::vector<core::Tensor> moved = moved_outputs(*runs.noisy[run], node, run, distances, picks);
        for (std::size_t i = 0; i < decisions.size(); ++i) {
            if (decisions[i] == Decision::jumps) {
                jumped[i] = take_jumps(moved[i], spreads[i], outputs[run][i]) || jumped[i];
            } else if (decisions[i] != Decision::none) {
                outputs[run][i] = std::move(moved[i]);
            }
            if (runs.reference.are_in_files()) {
                core::move_to_file(outputs[run][i]);
            }
        }
        runs.noisy[run]->leave_memory(node);
    }
    return jumped;
}

bool takes_steps(const GraphNode& node, std::size_t output) {
    const Decision decision = decision_of(*node.descriptor, output);
    return decision == Decision::steps || decision == Decision::picks;
}

bool crosses_end_of_domain(const GraphRuns& runs, const GraphNode& node, const Reference& reference) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] == operators::no_value || decision_of(*node.descriptor, i) != Decision::jumps) {
            continue;
        }
        const core::Tensor expected = flat(reference.outputs[i]);
        if (std::ranges::any_of(runs.noisy, [&](const auto& run) {
                return differs_in_nan(expected, flat(run->at(node.outputs[i])));
            })) {
            return true;
        }
    }
    return false;
}

}  // namespace dmlconform::cpu

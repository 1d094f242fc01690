// Estimates memory from the sizes of tensors.
#include "engine/run/case_memory.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/core/checked.h"
#include "engine/cpu/decisions.h"
#include "engine/cpu/graph_reference.h"
#include "engine/cpu/reference.h"
#include "engine/operators/graph_rules.h"

namespace dmlconform::run {
namespace {

/// What the values that nodes share may take however low the limit is.
constexpr std::uint64_t least_memory_for_values = std::uint64_t{64} << 20;

constexpr std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();

void add(std::uint64_t& sum, std::uint64_t count, std::uint64_t each) {
    const auto product = core::checked_multiply(count, each);
    sum = product ? core::checked_add(sum, *product).value_or(greatest) : greatest;
}

/// The bytes of packed elements, which Initialiser::fill allocates for a tensor that is not packed.
std::uint64_t packed_bytes(const core::TensorDesc& desc) {
    const std::uint64_t count = core::element_count(desc.sizes).value_or(greatest);
    // 4-bit elements: two per byte.
    std::uint64_t bytes = 0;
    add(bytes, core::bytes_of(desc.data_type) == 0 ? count / 2 + 1 : count,
        std::max(core::bytes_of(desc.data_type), 1u));
    return bytes;
}

/// Both bounds, the standard deviation, and two flags.
constexpr std::uint64_t bytes_of_bounds = 26;

/// The bytes of all values that nodes write, and of the most that are needed at once.
struct ValueBytes {
    std::uint64_t all = 0;
    std::uint64_t most = 0;
};

ValueBytes most_at_once(const operators::Graph& graph) {
    const auto order = graph.execution_order();
    const auto last = operators::last_uses(graph, order);
    std::vector<std::vector<operators::ValueIndex>> ended(order.size() + 1);
    for (std::size_t value = 0; value < graph.values.size(); ++value) {
        if (graph.values[value].producer) {
            ended[last[value]].push_back(static_cast<operators::ValueIndex>(value));
        }
    }
    ValueBytes bytes;
    std::uint64_t now = 0;
    for (std::size_t position = 0; position < order.size(); ++position) {
        for (const operators::ValueIndex value : graph.nodes[order[position]].outputs) {
            if (value != operators::no_value) {
                add(bytes.all, 1, graph.values[value].desc.total_bytes);
                add(now, 1, graph.values[value].desc.total_bytes);
            }
        }
        bytes.most = std::max(bytes.most, now);
        for (const operators::ValueIndex value : ended[position]) {
            now -= std::min(now, graph.values[value].desc.total_bytes);
        }
    }
    return bytes;
}

/// What running a graph takes besides its inputs and outputs: the values that are needed at once, by the engine, by the
/// reference and in each of the runs that a tolerance is made of; what the largest node takes; and all values once
/// more, which the nodes' own cases share, up to what is held in memory in any case.
std::uint64_t bytes_of_values(const operators::Graph& graph, std::size_t runs) {
    const ValueBytes values = most_at_once(graph);
    std::uint64_t all = std::min(values.all, least_memory_for_values);
    std::uint64_t temporary = 0;
    for (const operators::GraphNode& node : graph.nodes) {
        temporary = std::max(temporary, cpu::temporary_bytes(*node.descriptor));
    }
    add(all, 1, temporary);
    add(all, runs + 2, values.most);
    return all;
}

/// With element_slack if its bounds may be needed.
core::Tolerance tolerance_of(const cases::Case& subject, const std::vector<operators::TensorSlot>& outputs,
                             std::size_t output) {
    core::Tolerance own = cpu::default_tolerance(*subject.descriptor, outputs[output]);
    core::Tolerance tolerance = subject.tolerances[output].value_or(own);
    tolerance.element_slack = tolerance.element_slack || (subject.expected_in_fp32 && own.element_slack);
    return tolerance;
}

/// A graph whose outputs are all exact, or have tolerances of the case, needs no further runs.
std::size_t runs_for(const cases::Case& subject, const std::vector<operators::TensorSlot>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc != nullptr && tolerance_of(subject, outputs, i).element_slack) {
            return cpu::monte_carlo_runs;
        }
    }
    return 0;
}

/// The bytes of a node's tensors: of its inputs, of its outputs, of the bounds of its outputs, and what its kernel
/// takes.
struct NodeBytes {
    std::uint64_t inputs = 0;
    std::uint64_t outputs = 0;
    std::uint64_t bounds = 0;
    std::uint64_t temporary = 0;
};

NodeBytes bytes_of(const operators::Descriptor& node) {
    NodeBytes bytes;
    for (const operators::TensorSlot& slot : node.inputs()) {
        add(bytes.inputs, 1, slot.desc == nullptr ? 0 : slot.desc->total_bytes);
    }
    for (const operators::TensorSlot& slot : node.outputs()) {
        if (slot.desc != nullptr) {
            add(bytes.outputs, 1, slot.desc->total_bytes);
            if (cpu::default_tolerance(node, slot).element_slack) {
                add(bytes.bounds, bytes_of_bounds, core::element_count(slot.desc->sizes).value_or(greatest));
            }
        }
    }
    bytes.temporary = cpu::temporary_bytes(node);
    return bytes;
}

/// For each element of an input of a node that decides: the sum of squares, the extremes, the distance, and a flag.
constexpr std::uint64_t bytes_of_deviations = 33;

/// What the reference has of a node in memory: its tensors, and its outputs in one run. If it decides, also copies of
/// its inputs, and what the runs differ by.
std::uint64_t bytes_in_runs(const operators::Descriptor& node) {
    const NodeBytes bytes = bytes_of(node);
    std::uint64_t sum = bytes.temporary;
    add(sum, 1, bytes.inputs);
    add(sum, 2, bytes.outputs);
    add(sum, 1, bytes.bounds);
    bool decides = false;
    const auto outputs = node.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        decides = decides || (outputs[i].desc != nullptr && cpu::decision_of(node, i) != cpu::Decision::none);
    }
    for (const operators::TensorSlot& slot : node.inputs()) {
        if (decides && slot.desc != nullptr) {
            add(sum, bytes_of_deviations, core::element_count(slot.desc->sizes).value_or(greatest));
        }
    }
    add(sum, decides ? 2 : 0, bytes.inputs);
    add(sum, decides ? 2 : 0, bytes.outputs);
    return sum;
}

/// The copies of a case's outputs, and their bounds.
std::uint64_t bytes_of_outputs(const cases::Case& subject, std::uint64_t copies) {
    std::uint64_t sum = 0;
    const auto outputs = subject.descriptor->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc == nullptr) {
            continue;
        }
        add(sum, copies, outputs[i].desc->total_bytes);
        if (tolerance_of(subject, outputs, i).element_slack) {
            add(sum, bytes_of_bounds, core::element_count(outputs[i].desc->sizes).value_or(greatest));
        }
    }
    return sum;
}

/// What a case needs where a graph's values are wherever they fit.
std::uint64_t least_memory_needed(const cases::Case& subject) {
    const std::uint64_t plain = memory_needed(subject);
    return subject.descriptor->graph == nullptr ? plain : std::min(plain, memory_needed_in_files(subject));
}

}  // namespace

std::uint64_t memory_needed(const cases::Case& subject, const MoreCopies& more) {
    // Each process holds the message and the tensor that is in it.
    const std::uint64_t copies = (more.sent ? 4 : 0) + (more.evidence ? 1 : 0);
    const operators::Graph* graph = subject.descriptor->graph.get();
    const auto outputs = subject.descriptor->outputs();
    std::uint64_t sum = graph == nullptr ? cpu::temporary_bytes(*subject.descriptor)
                                         : bytes_of_values(*graph, runs_for(subject, outputs));
    add(sum, 1, subject.memory_beside);
    std::uint64_t largest_packed = 0;
    for (const operators::TensorSlot& slot : subject.descriptor->inputs()) {
        if (slot.desc == nullptr) {
            continue;
        }
        add(sum, 2 + copies, slot.desc->total_bytes);
        if (!core::is_packed(*slot.desc)) {
            largest_packed = std::max(largest_packed, packed_bytes(*slot.desc));
        }
    }
    add(sum, 1, largest_packed);
    add(sum, 1, bytes_of_outputs(subject, 4 + copies + (more.answer ? 1 : 0)));
    return sum;
}

std::uint64_t memory_needed_in_files(const cases::Case& subject, const MoreCopies& more) {
    const operators::Graph& graph = *subject.descriptor->graph;
    std::uint64_t all_inputs = 0;
    std::uint64_t largest_input = 0;
    for (const operators::TensorSlot& slot : subject.descriptor->inputs()) {
        add(all_inputs, 1, slot.desc->total_bytes);
        largest_input = std::max(largest_input,
                                 slot.desc->total_bytes + (core::is_packed(*slot.desc) ? 0 : packed_bytes(*slot.desc)));
    }
    // What nodes share is in memory up to that amount.
    const ValueBytes values = most_at_once(graph);
    std::uint64_t sum = std::min(values.all, least_memory_for_values);
    add(sum, 1, subject.memory_beside);
    std::uint64_t of_reference = largest_input;
    std::uint64_t of_one_node = 0;
    for (const operators::GraphNode& node : graph.nodes) {
        of_reference = std::max(of_reference, bytes_in_runs(*node.descriptor));
        const NodeBytes bytes = bytes_of(*node.descriptor);
        of_one_node = std::max(of_one_node, bytes.inputs + bytes.outputs);
    }
    add(sum, 1, of_reference);
    switch (more.engine) {
        case MoreCopies::Engine::nothing:
            break;
        case MoreCopies::Engine::node:
            add(sum, 2, of_one_node);
            break;
        case MoreCopies::Engine::graph:
            add(sum, 1, all_inputs);
            add(sum, 1, values.most);
            break;
    }
    add(sum, 1, bytes_of_outputs(subject, 4 + (more.evidence ? 1 : 0) + (more.answer ? 1 : 0)));
    return sum;
}

std::uint64_t memory_for_largest_node(const operators::Graph& graph) {
    std::uint64_t most = 0;
    for (const operators::GraphNode& node : graph.nodes) {
        const NodeBytes bytes = bytes_of(*node.descriptor);
        most = std::max(most, bytes.inputs + bytes.outputs + bytes.temporary);
    }
    return most;
}

std::uint64_t memory_for_values(const cases::Case& subject, std::uint64_t max_memory) {
    std::uint64_t largest = least_memory_needed(subject);
    if (subject.descriptor->graph != nullptr) {
        for (const operators::GraphNode& node : subject.descriptor->graph->nodes) {
            const NodeBytes bytes = bytes_of(*node.descriptor);
            std::uint64_t of_case = bytes.temporary;
            add(of_case, 2, bytes.inputs);
            add(of_case, 4, bytes.outputs);
            add(of_case, 1, bytes.bounds);
            largest = std::max(largest, of_case);
        }
        add(largest, 1, memory_for_largest_node(*subject.descriptor->graph));
    }
    const std::uint64_t left = max_memory - std::min(largest, max_memory);
    return std::max(least_memory_for_values, std::min(left, max_memory / 4));
}

}  // namespace dmlconform::run

// Estimates memory from the sizes of tensors.
#include "engine/run/case_memory.h"

#include <algorithm>
#include <limits>

#include "engine/core/checked.h"
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

/// What running a graph takes besides its inputs and outputs: the values that are needed at once, by the engine, by the
/// reference and in each of the runs that a tolerance is made of, and all values once more, which the nodes' own cases
/// share, up to what is held in memory in any case.
std::uint64_t bytes_of_values(const operators::Graph& graph, std::size_t runs) {
    const auto order = graph.execution_order();
    const auto last = operators::last_uses(graph, order);
    std::uint64_t all = 0;
    std::uint64_t now = 0;
    std::uint64_t most = 0;
    for (std::size_t position = 0; position < order.size(); ++position) {
        for (const operators::ValueIndex value : graph.nodes[order[position]].outputs) {
            if (value != operators::no_value) {
                add(all, 1, graph.values[value].desc.total_bytes);
                add(now, 1, graph.values[value].desc.total_bytes);
            }
        }
        most = std::max(most, now);
        for (std::size_t value = 0; value < graph.values.size(); ++value) {
            if (last[value] == position && graph.values[value].producer) {
                now -= std::min(now, graph.values[value].desc.total_bytes);
            }
        }
    }
    all = std::min(all, least_memory_for_values);
    add(all, runs + 2, most);
    return all;
}

core::Tolerance tolerance_of(const cases::Case& subject, const std::vector<operators::TensorSlot>& outputs,
                             std::size_t output) {
    return subject.tolerances[output].value_or(cpu::default_tolerance(*subject.descriptor, outputs[output]));
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

}  // namespace

std::uint64_t memory_needed(const cases::Case& subject, const MoreCopies& more) {
    // Each process holds the message and the tensor that is in it.
    const std::uint64_t copies = (more.sent ? 4 : 0) + (more.evidence ? 1 : 0);
    const operators::Graph* graph = subject.descriptor->graph.get();
    const auto outputs = subject.descriptor->outputs();
    std::uint64_t sum = graph == nullptr ? 0 : bytes_of_values(*graph, runs_for(subject, outputs));
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
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc == nullptr) {
            continue;
        }
        add(sum, 4 + copies + (more.answer ? 1 : 0), outputs[i].desc->total_bytes);
        if (tolerance_of(subject, outputs, i).element_slack) {
            // Both bounds, the standard deviation, and two flags.
            add(sum, 26, core::element_count(outputs[i].desc->sizes).value_or(greatest));
        }
    }
    return sum;
}

std::uint64_t memory_for_values(const cases::Case& subject, std::uint64_t max_memory) {
    const std::uint64_t needed = memory_needed(subject);
    const std::uint64_t left = max_memory - std::min(needed, max_memory);
    return core::checked_add(least_memory_for_values, left).value_or(greatest);
}

}  // namespace dmlconform::run

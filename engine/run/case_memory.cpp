// Sums of tensor sizes.
#include "engine/run/case_memory.h"

#include <limits>

#include "engine/core/checked.h"
#include "engine/cpu/reference.h"

namespace dmlconform::run {
namespace {

constexpr std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();

void add(std::uint64_t& sum, std::uint64_t count, std::uint64_t each) {
    const auto product = core::checked_multiply(count, each);
    sum = product ? core::checked_add(sum, *product).value_or(greatest) : greatest;
}

}  // namespace

std::uint64_t memory_needed(const cases::Case& subject) {
    std::uint64_t sum = 0;
    for (const operators::TensorSlot& slot : subject.descriptor->inputs()) {
        add(sum, 2, slot.desc == nullptr ? 0 : slot.desc->total_bytes);
    }
    const auto outputs = subject.descriptor->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc == nullptr) {
            continue;
        }
        add(sum, 4, outputs[i].desc->total_bytes);
        const core::Tolerance tolerance =
            subject.tolerances[i].value_or(cpu::default_tolerance(*subject.descriptor, outputs[i]));
        if (tolerance.element_slack) {
            add(sum, 18, core::element_count(outputs[i].desc->sizes).value_or(greatest));
        }
    }
    return sum;
}

}  // namespace dmlconform::run

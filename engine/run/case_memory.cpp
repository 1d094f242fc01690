// Sums of tensor sizes.
#include "engine/run/case_memory.h"

#include <algorithm>
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

/// What Initialiser::fill takes for a tensor that is not packed.
std::uint64_t packed_bytes(const core::TensorDesc& desc) {
    const std::uint64_t count = core::element_count(desc.sizes).value_or(greatest);
    // Of 4-bit elements two share a byte.
    std::uint64_t bytes = 0;
    add(bytes, core::bytes_of(desc.data_type) == 0 ? count / 2 + 1 : count,
        std::max(core::bytes_of(desc.data_type), 1u));
    return bytes;
}

}  // namespace

std::uint64_t memory_needed(const cases::Case& subject, const MoreCopies& more) {
    // On each side of the connection: the message, and the tensor in it.
    const std::uint64_t copies = (more.sent ? 4 : 0) + (more.evidence ? 1 : 0);
    std::uint64_t sum = 0;
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
    const auto outputs = subject.descriptor->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc == nullptr) {
            continue;
        }
        add(sum, 4 + copies + (more.answer ? 1 : 0), outputs[i].desc->total_bytes);
        const core::Tolerance tolerance =
            subject.tolerances[i].value_or(cpu::default_tolerance(*subject.descriptor, outputs[i]));
        if (tolerance.element_slack) {
            add(sum, 18, core::element_count(outputs[i].desc->sizes).value_or(greatest));
        }
    }
    return sum;
}

}  // namespace dmlconform::run

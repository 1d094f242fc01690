// The reference, around the kernels.
#include "engine/cpu/reference.h"

#include "engine/cpu/kernel.h"
#include "engine/cpu/left_out.h"
#include "engine/operators/generic_tolerance.h"

namespace dmlconform::cpu {

const Kernel* find_kernel(std::string_view short_name) {
    static const core::Registry<Kernels> registry(kernels);
    return is_left_out(short_name) ? nullptr : registry.find(short_name);
}

bool has_reference(const operators::OperatorSchema& schema) {
    return find_kernel(schema.short_name()) != nullptr;
}

core::Tolerance default_tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& output) {
    const Kernel* kernel = find_kernel(descriptor.schema->short_name());
    const bool stated = kernel != nullptr && kernel->tolerance != nullptr;
    return stated ? kernel->tolerance(descriptor, output) : operators::generic_tolerance(descriptor, output);
}

Reference compute_reference(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                            Accumulation accumulation) {
    Reference reference;
    const auto slots = descriptor.outputs();
    reference.outputs.reserve(slots.size());
    std::vector<core::Tensor*> outputs;
    for (const operators::TensorSlot& slot : slots) {
        core::ElementSlack slack;
        if (slot.desc != nullptr && default_tolerance(descriptor, slot).element_slack) {
            slack.below.resize(static_cast<std::size_t>(*core::element_count(slot.desc->sizes)));
            slack.above.resize(slack.below.size());
            slack.nan.resize(slack.below.size());
            slack.finite.resize(slack.below.size());
        }
        reference.slack.push_back(std::move(slack));
        outputs.push_back(
            &reference.outputs.emplace_back(slot.desc == nullptr ? core::Tensor() : core::Tensor(*slot.desc)));
    }
    find_kernel(descriptor.schema->short_name())->compute({descriptor, inputs, outputs, reference.slack, accumulation});
    return reference;
}

}  // namespace dmlconform::cpu

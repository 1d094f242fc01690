// Computes references by the CPU kernels.
#include "engine/cpu/reference.h"

#include <algorithm>
#include <limits>

#include "engine/core/checked.h"
#include "engine/cpu/graph_reference.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/left_out.h"
#include "engine/cpu/variants.h"
#include "engine/operators/graph.h"

namespace dmlconform::cpu {

namespace {

const core::Registry<Kernels>& registry() {
    static const core::Registry<Kernels> result(kernels);
    return result;
}

}  // namespace

const Kernel* find_kernel(std::string_view short_name) {
    return is_left_out(short_name) ? nullptr : registry().find(short_name);
}

std::vector<std::string_view> operators_that_count_float16_sums() {
    std::vector<std::string_view> names;
    for (const auto& [name, kernel] : registry().rows()) {
        if (kernel.counts_float16_sums) {
            names.emplace_back(name);
        }
    }
    return names;
}

bool has_reference(const operators::OperatorSchema& schema) {
    return find_kernel(schema.short_name()) != nullptr;
}

bool has_reference(const operators::Descriptor& descriptor) {
    return descriptor.graph == nullptr ? has_reference(*descriptor.schema)
                                       : std::ranges::all_of(descriptor.graph->nodes, [](const auto& node) {
                                             return has_reference(*node.descriptor);
                                         });
}

core::Tolerance default_tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& output) {
    if (descriptor.graph != nullptr) {
        return graph_tolerance(*descriptor.graph, output.name);
    }
    const Kernel* kernel = find_kernel(descriptor.schema->short_name());
    return kernel == nullptr ? exact_tolerance(descriptor, output) : kernel->tolerance(descriptor, output);
}

std::uint64_t temporary_bytes(const operators::Descriptor& descriptor) {
    const Kernel* const kernel = descriptor.graph == nullptr ? find_kernel(descriptor.schema->short_name()) : nullptr;
    std::uint64_t bytes = 0;
    const auto add_doubles = [&](const std::vector<operators::TensorSlot>& slots) {
        for (const operators::TensorSlot& slot : slots) {
            const std::uint64_t count = slot.desc == nullptr ? 0 : core::element_count(slot.desc->sizes).value_or(0);
            bytes += core::checked_multiply(count, sizeof(double)).value_or(std::numeric_limits<std::uint32_t>::max());
        }
    };
    if (kernel != nullptr && kernel->loads_numbers) {
        add_doubles(descriptor.inputs());
    }
    if (kernel != nullptr && kernel->compute_runs) {
        add_doubles(descriptor.outputs());
    }
    return bytes;
}

namespace {

/// Tensors for the outputs, which `compute` fills, and bounds as far as the operator's tolerance needs them.
template <class Compute>
Reference computed(const operators::Descriptor& descriptor, const Compute& compute) {
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
            slack.sigma.resize(slack.below.size());
        }
        reference.slack.push_back(std::move(slack));
        outputs.push_back(
            &reference.outputs.emplace_back(slot.desc == nullptr ? core::Tensor() : core::Tensor(*slot.desc)));
    }
    compute(outputs, reference.slack);
    return reference;
}

}  // namespace

Reference compute_reference(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                            Accumulation accumulation, std::vector<double>* for_runs) {
    if (descriptor.graph != nullptr) {
        return compute_graph_reference(*descriptor.graph, inputs, accumulation);
    }
    const Kernel& kernel = *find_kernel(descriptor.schema->short_name());
    return computed(descriptor, [&](std::span<core::Tensor* const> outputs, std::span<core::ElementSlack> slack) {
        kernel.compute({descriptor, inputs, outputs, slack, accumulation, for_runs});
    });
}

Reference compute_variant(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                          Accumulation accumulation, std::string_view variant) {
    const Variant& other = *find_variant(*descriptor.schema, variant);
    return computed(descriptor, [&](std::span<core::Tensor* const> outputs, std::span<core::ElementSlack> slack) {
        other.compute({descriptor, inputs, outputs, slack, accumulation});
    });
}

namespace {

core::Tensor output_for(const operators::TensorSlot& slot, std::size_t run, const NewOutput& new_output) {
    return slot.desc == nullptr ? core::Tensor() : new_output ? new_output(run, *slot.desc) : core::Tensor(*slot.desc);
}

}  // namespace

bool may_compute_runs(const operators::Descriptor& descriptor) {
    return find_kernel(descriptor.schema->short_name())->compute_runs != nullptr;
}

std::vector<std::vector<core::Tensor>> compute_outputs_of_runs(const operators::Descriptor& descriptor,
                                                               const InputsOfRuns& inputs, const NewOutput& new_output,
                                                               const std::function<void()>& pause,
                                                               const ChangeOutputs& change) {
    const Kernel& kernel = *find_kernel(descriptor.schema->short_name());
    const auto slots = descriptor.outputs();
    std::vector<std::vector<core::Tensor>> outputs(inputs.of_runs.size());
    std::vector<std::vector<core::Tensor*>> pointers(outputs.size());
    for (std::size_t run = 0; run < outputs.size(); ++run) {
        for (const operators::TensorSlot& slot : slots) {
            outputs[run].push_back(output_for(slot, run, new_output));
        }
        for (core::Tensor& output : outputs[run]) {
            pointers[run].push_back(&output);
        }
    }
    const std::vector<std::span<core::Tensor* const>> spans(pointers.begin(), pointers.end());
    if (!kernel.compute_runs || !kernel.compute_runs({descriptor, inputs.of_reference, inputs.for_runs, inputs.differs,
                                                      inputs.of_runs, spans, pause, change})) {
        return {};
    }
    return outputs;
}

std::vector<core::Tensor> compute_outputs(const operators::Descriptor& descriptor,
                                          std::span<const core::Tensor* const> inputs, const NewOutput& new_output) {
    std::vector<core::Tensor> outputs;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        outputs.push_back(output_for(slot, 0, new_output));
    }
    std::vector<core::Tensor*> pointers;
    for (core::Tensor& output : outputs) {
        pointers.push_back(&output);
    }
    find_kernel(descriptor.schema->short_name())->compute({descriptor, inputs, pointers, {}});
    return outputs;
}

}  // namespace dmlconform::cpu

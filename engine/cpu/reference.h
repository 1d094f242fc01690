// What the reference knows: which operators it computes, what it computes, and how far others may be off.
#pragma once

#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/accumulation.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

/// Whether the reference computes the operator, so that cases of it need no expected values.
[[nodiscard]] bool has_reference(const operators::OperatorSchema& schema);

/// What difference is accepted where a case states no tolerance: what the operator's kernel says, otherwise
/// operators::generic_tolerance.
[[nodiscard]] core::Tolerance default_tolerance(const operators::Descriptor& descriptor,
                                                const operators::TensorSlot& output);

/// What the reference has to say about a descriptor and its inputs.
struct Reference {
    /// In the order of Descriptor::outputs(); a default-constructed tensor for an absent one.
    std::vector<core::Tensor> outputs;
    /// One for each output; empty ones where the operator's tolerance does not need them.
    std::vector<core::ElementSlack> slack;
};

/// Computes outputs and slack of a valid descriptor of an operator that has_reference.
[[nodiscard]] Reference compute_reference(const operators::Descriptor& descriptor,
                                          std::span<const core::Tensor* const> inputs,
                                          Accumulation accumulation = Accumulation::fp32);

}  // namespace dmlconform::cpu

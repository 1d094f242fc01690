// What a CPU kernel is: a function that computes one operator. One file per operator in kernels/ defines it.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

/// What a kernel works on. Tensors may have any strides that are legal for their descriptor.
struct KernelArguments {
    const operators::Descriptor& descriptor;
    /// In the order of Descriptor::inputs(); null for an absent one.
    std::span<const core::Tensor* const> inputs;
    /// In the order of Descriptor::outputs().
    std::span<core::Tensor* const> outputs;
    /// One for each output, sized for its elements, or empty: the tolerance is not asked for. A kernel
    /// of an operator whose default tolerance has no element_slack leaves it alone.
    std::span<core::ElementSlack> slack;
};

using Kernel = void (*)(const KernelArguments& arguments);

/// Null when the operator has no kernel yet.
[[nodiscard]] Kernel find_kernel(std::string_view short_name);

/// Short operator name and kernel, one entry for each file in kernels/. Written by the build.
extern const std::span<const std::pair<std::string_view, Kernel>> kernel_registry;

}  // namespace dmlconform::cpu

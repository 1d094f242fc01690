// What a CPU kernel is: a row that says how one operator is computed, and what may differ from that.
//
// A file in kernels/ defines FILE_kernels(), which returns the rows of one operator. A file in kernels/FAMILY/ defines
// FAMILY_FILE_kernels(), with as many rows as it likes.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/registry.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/accumulation.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

/// What a kernel works on. Tensors may have any strides that are legal for their descriptor.
struct KernelArguments {
    const operators::Descriptor& descriptor;
    /// In the order of Descriptor::inputs(); null for an absent one.
    std::span<const core::Tensor* const> inputs;
    /// In the order of Descriptor::outputs(); null or without a description for an absent one.
    std::span<core::Tensor* const> outputs;
    /// One for each output, sized for its elements, or empty: the tolerance is not asked for. A kernel whose tolerance
    /// for an output has no element_slack leaves those bounds alone, and lists alternatives if the tolerance has them.
    std::span<core::ElementSlack> slack;
    /// Widens the slack alone, and only where a kernel counts the roundings of its sums. Values are the same.
    Accumulation accumulation = Accumulation::fp32;
};

struct Kernel {
    /// "SLICE1".
    std::string_view name;
    std::function<void(const KernelArguments& arguments)> compute;
    /// The default tolerance of an output of a valid descriptor. Without: what operators::default_tolerance says.
    std::function<core::Tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& output)>
        tolerance = nullptr;
};

using Kernels = std::vector<Kernel>;

/// Null when the operator has no kernel yet.
[[nodiscard]] const Kernel* find_kernel(std::string_view short_name);

/// Every file with rows. Written by the build.
extern const std::span<const core::RegistryFile<Kernels>> kernels;

}  // namespace dmlconform::cpu

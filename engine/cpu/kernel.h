// CPU kernels: one entry for each operator says how it is computed, and which deviations are accepted.
//
// Each family of operators has a folder. A file FAMILY/FILE_kernels.cpp defines FILE_kernels(), which returns the
// entries of one or several operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/registry.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/accumulation.h"
#include "engine/cpu/stated_tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

/// The arguments of a kernel. Tensors may have any strides that are legal for their descriptor.
struct KernelArguments {
    const operators::Descriptor& descriptor;
    /// One for each of Descriptor::inputs(); null for an absent one.
    std::span<const core::Tensor* const> inputs;
    /// One for each of Descriptor::outputs(); null or without a descriptor for an absent one.
    std::span<core::Tensor* const> outputs;
    /// One for each output, sized for its elements, or empty if bounds are not wanted. A kernel whose tolerance for an
    /// output lacks element_slack leaves the bounds unchanged. It lists alternatives if the tolerance has them.
    std::span<core::ElementSlack> slack;
    /// Affects only the slack of kernels that count the roundings of their sums. Values do not change.
    Accumulation accumulation = Accumulation::fp32;
    /// Kernels with `compute_runs` store here what that needs; null if it is not wanted.
    std::vector<double>* for_runs = nullptr;
};

/// The most elements of each run that are passed to one of these functions.
inline constexpr std::int64_t most_part_elements = 128;

/// Changes `count` elements of all runs, from row-major index `first` on. Those of run r begin at elements[r * count].
/// `next` is the first of as many elements that are likely to be passed after these.
using ChangePart = std::function<void(std::int64_t first, std::int64_t count, float* elements, std::int64_t next)>;

/// The arguments of a kernel that computes several runs of a graph at once. Their inputs differ from the reference's by
/// rounding errors, or by what those lead to.
struct RunArguments {
    const operators::Descriptor& descriptor;
    /// The reference's, as in KernelArguments.
    std::span<const core::Tensor* const> inputs;
    /// What `compute` stored of the reference.
    std::span<const double> of_reference;
    /// For each input, whether it may differ.
    const std::vector<bool>& differs;
    /// For each run.
    std::span<const std::span<const core::Tensor* const>> inputs_of_runs;
    std::span<const std::span<core::Tensor* const>> outputs_of_runs;
    /// Called now and then on the caller's thread. May throw to end everything.
    const std::function<void()>& pause;
    /// If outputs are packed FP32 tensors, called in any thread before elements are stored. Each element is passed
    /// once.
    const ChangePart& change;
};

/// Computes `count` elements of several runs, from row-major index `first` on. Those of run r begin at in[i][r * count]
/// and out[r * count]. No input overlaps the output.
using ComputePart = std::function<void(std::int64_t first, std::int64_t count, std::size_t runs,
                                       std::span<const float* const> in, float* out)>;

/// True for FLOAT32 tensors without gaps, whose elements kernels may read and store as they are.
[[nodiscard]] inline bool is_packed_float32(const core::TensorDesc& desc) {
    return desc.data_type == core::DataType::float32 && core::is_packed(desc);
}

/// An operator whose elements follow from those with the same index, all in packed FLOAT32 tensors of the same sizes.
struct ElementByElement {
    /// The inputs that are read so, as indices into Descriptor::inputs(), in the order of ComputePart's `in`. What it
    /// needs of all others is in the tensors that it was made with, which must outlive it.
    std::vector<std::size_t> inputs;
    ComputePart compute;
};

struct Kernel {
    /// The operator's short name: "SLICE1".
    std::string_view name;
    std::function<void(const KernelArguments& arguments)> compute;
    StatedTolerance tolerance;
    /// The kernel holds all elements of its inputs as doubles while it computes.
    bool loads_numbers = false;
    /// Computes several runs in less time than `compute` takes for each of them, and, but for an error that is
    /// negligible beside their differences, with the same results. The results of a run do not depend on the others.
    /// Returns false if it cannot; the outputs are undefined then. Null if it never can.
    std::function<bool(const RunArguments& arguments)> compute_runs = nullptr;
    /// Empty if the descriptor does not allow that. The results are those of `compute`. Null if it never does.
    std::function<std::optional<ElementByElement>(const operators::Descriptor& descriptor,
                                                  std::span<const core::Tensor* const> inputs)>
        by_element = nullptr;
    /// Bounds depend on KernelArguments::accumulation.
    bool counts_float16_sums = false;
};

using Kernels = std::vector<Kernel>;

/// Null if the operator has no kernel.
[[nodiscard]] const Kernel* find_kernel(std::string_view short_name);

/// Short names of the operators whose kernels count the roundings of FLOAT16 sums, in alphabetical order.
[[nodiscard]] std::vector<std::string_view> operators_that_count_float16_sums();

/// The files with kernels. The build writes this list.
extern const std::span<const core::RegistryFile<Kernels>> kernels;

}  // namespace dmlconform::cpu

// The reference: which operators it computes, its results, and the tolerances of other implementations.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/accumulation.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

/// True if the reference computes the operator. Then its cases need no expected values.
[[nodiscard]] bool has_reference(const operators::OperatorSchema& schema);
/// The same for a descriptor. For a graph, true if the reference computes all of its nodes.
[[nodiscard]] bool has_reference(const operators::Descriptor& descriptor);

/// The tolerance of an output if the case states none: that of the operator's kernel, or of the graph. Without a
/// reference nothing is accepted.
[[nodiscard]] core::Tolerance default_tolerance(const operators::Descriptor& descriptor,
                                                const operators::TensorSlot& output);

/// The bytes that the kernel of an operator takes beside its tensors and their bounds, at least.
[[nodiscard]] std::uint64_t temporary_bytes(const operators::Descriptor& descriptor);

/// The reference's results for a descriptor and its inputs.
struct Reference {
    /// One for each of Descriptor::outputs(); a default-constructed tensor for an absent one.
    std::vector<core::Tensor> outputs;
    /// One for each output; empty if the operator's tolerance does not need it.
    std::vector<core::ElementSlack> slack;
    /// For graphs: the values that nodes read and that are the result of decisions which may go either way, such as
    /// rounding beside a tie. Empty without Monte Carlo runs.
    std::vector<std::string> undecided{};
};

/// Computes outputs and slack. The descriptor must be valid, and has_reference must be true for it. `for_runs` gets
/// what compute_outputs_of_runs needs of an operator, if it is not null.
[[nodiscard]] Reference compute_reference(const operators::Descriptor& descriptor,
                                          std::span<const core::Tensor* const> inputs,
                                          Accumulation accumulation = Accumulation::fp32,
                                          std::vector<double>* for_runs = nullptr);

/// The same by a variant of the operator, which must have it: see engine/cpu/variants.h. Not for graphs.
[[nodiscard]] Reference compute_variant(const operators::Descriptor& descriptor,
                                        std::span<const core::Tensor* const> inputs, Accumulation accumulation,
                                        std::string_view variant);

/// True if compute_outputs_of_runs may be able to compute the operator. Not for graphs.
[[nodiscard]] bool may_compute_runs(const operators::Descriptor& descriptor);

/// The inputs of several runs of an operator, which differ a little from the reference's.
struct InputsOfRuns {
    std::span<const core::Tensor* const> of_reference;
    /// What compute_reference stored.
    std::span<const double> for_runs;
    /// For each input, whether it may differ.
    std::vector<bool> differs;
    /// For each run.
    std::vector<std::span<const core::Tensor* const>> of_runs;
};

/// Makes a tensor for an output of a run. Its bytes are not initialised. If null, tensors are in fresh memory.
using NewOutput = std::function<core::Tensor(std::size_t run, const core::TensorDesc& desc)>;

/// Changes elements of all runs before they are stored. See RunArguments::change.
using ChangeOutputs = std::function<void(std::int64_t first, std::int64_t count, float* elements, std::int64_t next)>;

/// Computes the outputs of several runs at once. Empty if only compute_outputs can compute them. Not for graphs. See
/// Kernel::compute_runs.
[[nodiscard]] std::vector<std::vector<core::Tensor>> compute_outputs_of_runs(const operators::Descriptor& descriptor,
                                                                             const InputsOfRuns& inputs,
                                                                             const NewOutput& new_output,
                                                                             const std::function<void()>& pause,
                                                                             const ChangeOutputs& change);

/// Computes only the outputs, which is faster. They are those of run 0, in fresh memory if `new_output` is null. Not
/// for graphs.
[[nodiscard]] std::vector<core::Tensor> compute_outputs(const operators::Descriptor& descriptor,
                                                        std::span<const core::Tensor* const> inputs,
                                                        const NewOutput& new_output = {});

}  // namespace dmlconform::cpu

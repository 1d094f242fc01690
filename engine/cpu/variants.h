// Variants: other ways to compute an operator, which engines are known to follow. An expectation names one to say what
// an engine computes instead of what is right (docs/expectations.md), and so that nothing else is excused.
#pragma once

#include <span>
#include <string_view>

#include "engine/cpu/kernel.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

struct Variant {
    /// What expectations call it.
    std::string_view name;
    /// Short names of the operators that have it.
    std::span<const std::string_view> operators;
    /// As Kernel::compute, with the kernel's tolerance.
    void (*compute)(const KernelArguments& arguments);
};

[[nodiscard]] std::span<const Variant> variants();

/// Null if the operator has no such variant.
[[nodiscard]] const Variant* find_variant(const operators::OperatorSchema& schema, std::string_view name);

namespace variants_of_kernels {

// Each is defined beside the kernel of its operators.
void resample_with_clamped_offsets(const KernelArguments& arguments);
void resample_with_elements_below(const KernelArguments& arguments);
void slice1_with_merged_dimensions(const KernelArguments& arguments);
void slice_grad_with_merged_dimensions(const KernelArguments& arguments);
void average_pooling_in_32_bits(const KernelArguments& arguments);
void lp_pooling_in_32_bits(const KernelArguments& arguments);
void max_pooling_in_32_bits(const KernelArguments& arguments);
void average_pooling_grad_in_32_bits(const KernelArguments& arguments);
void quantized_average_pooling_in_32_bits(const KernelArguments& arguments);
void mean_variance_normalization_with_stored_variance(const KernelArguments& arguments);
void rnn_without_absent_states(const KernelArguments& arguments);
void gru_without_absent_states(const KernelArguments& arguments);
void lstm_without_absent_states(const KernelArguments& arguments);
void clip_by_halves(const KernelArguments& arguments);
void clip_grad_by_halves(const KernelArguments& arguments);

}  // namespace variants_of_kernels

}  // namespace dmlconform::cpu

// Iteration over the tensors of an element-wise operator in parallel.
#pragma once

#include <cstddef>
#include <span>

#include "engine/core/strided.h"
#include "engine/core/tensor.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::element_wise {

/// QUANTIZED_LINEAR_ADD has eight inputs and an output.
inline constexpr std::size_t most_tensors = 9;

using Runs = core::StridedRuns<most_tensors>;

/// Runs over the inputs, of which absent ones are null, and the descriptor's outputs, in this order. Absent tensors
/// have strides of 0.
[[nodiscard]] Runs runs_of(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs);

}  // namespace dmlconform::cpu::element_wise

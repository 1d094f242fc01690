// How the tensors of an element-wise operator are walked together.
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

/// Inputs first, of which null ones are absent, then the descriptor's outputs. What is not there has strides of 0.
[[nodiscard]] Runs runs_of(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs);

}  // namespace dmlconform::cpu::element_wise

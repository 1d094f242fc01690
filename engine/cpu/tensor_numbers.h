// Tensors as packed doubles, for kernels that read elements repeatedly.
#pragma once

#include <string_view>
#include <vector>

#include "engine/cpu/kernel.h"

namespace dmlconform::cpu {

/// All elements in row-major order, optionally with the last two dimensions transposed.
[[nodiscard]] std::vector<double> numbers_of(const core::Tensor& tensor, bool transposed = false);

/// The input of that name; empty if it is absent or if the operator has no such field.
[[nodiscard]] std::vector<double> numbers_of(const KernelArguments& arguments, std::string_view field);

}  // namespace dmlconform::cpu

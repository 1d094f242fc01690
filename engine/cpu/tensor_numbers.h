// The elements of tensors as packed doubles, for kernels that read them again and again.
#pragma once

#include <string_view>
#include <vector>

#include "engine/cpu/kernel.h"

namespace dmlconform::cpu {

/// In row-major order, whatever the tensor's strides, its last two dimensions maybe exchanged.
[[nodiscard]] std::vector<double> numbers_of(const core::Tensor& tensor, bool transposed = false);

/// An input's, by the name of its field; nothing if it is absent, or if the operator has no such field.
[[nodiscard]] std::vector<double> numbers_of(const KernelArguments& arguments, std::string_view field);

}  // namespace dmlconform::cpu

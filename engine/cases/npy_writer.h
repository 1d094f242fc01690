// Writing tensors as NumPy's .npy files.
#pragma once

#include <string>

#include "engine/core/tensor.h"

namespace dmlconform::cases {

/// A file of format version 1.0: the tensor's elements in row-major order, without
/// the gaps and repetitions that strides make. The data type is at least a byte wide.
[[nodiscard]] std::string npy_file(const core::Tensor& tensor);

}  // namespace dmlconform::cases

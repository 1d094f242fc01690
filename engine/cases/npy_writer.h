// Writing tensors as data files of cases: NumPy's .npy, or raw elements where NumPy has no such type.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/tensor.h"

namespace dmlconform::cases {

/// A file of format version 1.0: the tensor's elements in row-major order, without
/// the gaps and repetitions that strides make. The data type is at least a byte wide.
[[nodiscard]] std::string npy_file(const core::Tensor& tensor);

/// ".npy", or ".bin" for elements of 4 bits, of which two share a byte.
[[nodiscard]] std::string_view data_file_ending(core::DataType type);

/// The contents of a file with that ending.
[[nodiscard]] std::string data_file(const core::Tensor& tensor);

/// How many bytes of elements are in it: of a tensor with strides of 0 far more than its total size.
[[nodiscard]] std::uint64_t data_file_bytes(const core::TensorDesc& desc);

}  // namespace dmlconform::cases

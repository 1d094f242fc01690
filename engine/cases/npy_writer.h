// Writes tensors as data files of cases: NumPy's .npy, or raw elements for types that NumPy lacks.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/tensor.h"

namespace dmlconform::cases {

/// A .npy file of version 1.0 with the elements in row-major order, without gaps; elements that strides repeat are
/// written repeatedly. The type must be at least one byte wide.
[[nodiscard]] std::string npy_file(const core::Tensor& tensor);

/// ".npy", or ".bin" for packed 4-bit elements.
[[nodiscard]] std::string_view data_file_ending(core::DataType type);

/// The contents of a file with that extension.
[[nodiscard]] std::string data_file(const core::Tensor& tensor);

/// The size of the file's elements in bytes. With strides of 0 it can be far more than the tensor's total size.
[[nodiscard]] std::uint64_t data_file_bytes(const core::TensorDesc& desc);

}  // namespace dmlconform::cases

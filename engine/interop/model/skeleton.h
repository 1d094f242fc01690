// Reads model files without the data of large tensors, which stay in the file until they are needed.
#pragma once

#include <filesystem>

#include "engine/core/error.h"
#include "engine/interop/onnx_messages.h"

namespace dmlconform::interop {

/// Larger tensors stay in the file: TensorProto::skipped_offset and skipped_bytes say where.
inline constexpr std::uint64_t most_inline_bytes = 1024;

/// Reads a ModelProto. Memory is limited to the file's contents besides large tensors, which are limited, too.
[[nodiscard]] core::Result<onnx::ModelProto> read_model_skeleton(const std::filesystem::path& path);

/// Reads a TensorProto, the format of files in test data sets.
[[nodiscard]] core::Result<onnx::TensorProto> read_tensor_skeleton(const std::filesystem::path& path);

}  // namespace dmlconform::interop

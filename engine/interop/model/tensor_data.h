// Where the elements of a model's tensors come from.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/cases/initialiser.h"
#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {

using SourcePointer = std::shared_ptr<const cases::ElementSource>;

/// A constant of a model. `tensor` has the elements of small ones; `source` has all elements.
struct ConstantTensor {
    OnnxTensor tensor;
    SourcePointer source;
    /// The bytes that the source has in memory.
    std::uint64_t source_bytes = 0;
};

/// A tensor of the model at `path`: inline, skipped in the file, or in another file of its folder. Checks the amount of
/// data against the sizes; large data are not read.
[[nodiscard]] core::Result<ConstantTensor> constant_tensor(const onnx::TensorProto& proto,
                                                           const std::filesystem::path& path);

/// A constant whose elements are known.
[[nodiscard]] ConstantTensor constant_tensor(OnnxTensor tensor);

/// A constant that repeats the one element of `element`. `tensor` has type and sizes.
[[nodiscard]] ConstantTensor repeated_constant(OnnxTensor tensor, const OnnxTensor& element);

/// Maximum number of elements of constants that are known during import.
inline constexpr std::size_t most_known_elements = 4096;

}  // namespace dmlconform::interop

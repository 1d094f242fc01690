// Tensors of ONNX in this program's form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"
#include "engine/interop/onnx_messages.h"

namespace dmlconform::interop {

/// DirectML's tensors have fewer. The time for a tensor may grow with the square of this number.
inline constexpr std::size_t most_onnx_dimensions = 64;

/// A packed tensor. A scalar has the sizes [1], because DirectML has no tensors without dimensions. In a model, only
/// types and sizes of most tensors are known.
struct OnnxTensor {
    core::DataType type = core::DataType::unknown;
    core::Dimensions sizes;
    /// Empty if they are unknown.
    std::vector<std::byte> elements;
    /// True for ONNX's BOOL, which is a UINT8 of 0 and 1 here.
    bool is_bool = false;
    /// True if ONNX's tensor has no dimensions.
    bool is_scalar = false;
    /// The graph's value with these bytes; empty for tensors of node tests and those that a mapping created.
    std::string value = {};

    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(*core::element_count(sizes)); }
    /// What the elements take in memory.
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] bool has_elements() const { return elements.size() == bytes(); }
    /// ONNX's sizes, which are empty for a scalar.
    [[nodiscard]] core::Dimensions onnx_sizes() const { return is_scalar ? core::Dimensions{} : sizes; }
    /// An element as an integer; 0 if it is not a number or out of range.
    [[nodiscard]] std::int64_t integer(std::size_t index) const;
    /// True if it is known to be a single 0.
    [[nodiscard]] bool is_zero() const;
    /// The elements, which must be known, as a list for a case file.
    [[nodiscard]] nlohmann::ordered_json list() const;
};

/// A tensor with unknown elements. A scalar has no sizes. Fails if the number of elements overflows.
[[nodiscard]] core::Result<OnnxTensor> unknown_tensor(core::DataType type, const core::Dimensions& sizes,
                                                      bool is_bool = false);

/// Converts a tensor. Fails if sizes and data do not match, and for strings, tensors without elements and
/// external data. With `may_be_empty_list`, a list may be empty, such as axes or the region of a Resize.
[[nodiscard]] core::Result<OnnxTensor> onnx_tensor(const onnx::TensorProto& proto, bool may_be_empty_list = false);

/// The same for a model's tensor, which may be large and may have sizes of 0.
struct AnySizes {};
[[nodiscard]] core::Result<OnnxTensor> onnx_tensor(const onnx::TensorProto& proto, AnySizes);

/// A packed tensor of `sizes` with the elements that these strides select, all of which must be inside the tensor.
[[nodiscard]] OnnxTensor gathered(const OnnxTensor& tensor, const core::Dimensions& sizes,
                                  const core::Dimensions& strides);

/// A scalar of type FLOAT32.
[[nodiscard]] OnnxTensor one_number(float value);

/// Type UINT32; `sizes` has the numbers.
[[nodiscard]] OnnxTensor whole_numbers(const std::vector<std::uint32_t>& values, core::Dimensions sizes);

/// Converts a TensorProto.DataType. Fails with a reason if this program lacks the type.
[[nodiscard]] core::Result<core::DataType> onnx_data_type(int number);

/// The TensorProto.DataType of a type that ONNX has.
[[nodiscard]] int onnx_number(core::DataType type);

/// The elements after broadcasting to `sizes` as in ONNX and NumPy. Fails if that is impossible. Sets `strides` to
/// those that broadcast the tensor itself.
[[nodiscard]] core::Result<OnnxTensor> broadcast(const OnnxTensor& tensor, const core::Dimensions& sizes,
                                                 core::Dimensions& strides);

/// Permutes the dimensions: dimension d of the result is permutation[d] of the tensor. `strides` are those that permute
/// the tensor itself.
[[nodiscard]] OnnxTensor transposed(const OnnxTensor& tensor, const std::vector<std::size_t>& permutation,
                                    core::Dimensions& strides);

}  // namespace dmlconform::interop

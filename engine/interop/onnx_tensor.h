// Tensors of ONNX as this program has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"
#include "onnx.pb.h"

namespace dmlconform::interop {

/// DirectML's tensors have fewer. The work on a tensor may grow with the square of this number.
inline constexpr std::size_t most_onnx_dimensions = 64;

/// Packed elements. A scalar has the sizes [1], because DirectML has no tensors without dimensions.
struct OnnxTensor {
    core::DataType type = core::DataType::unknown;
    core::Dimensions sizes;
    std::vector<std::byte> elements;
    /// ONNX's BOOL, which is a UINT8 of 0 and 1 here.
    bool is_bool = false;
    /// ONNX's tensor has no dimensions.
    bool is_scalar = false;

    [[nodiscard]] std::size_t count() const { return elements.size() / core::bytes_of(type); }
    /// As ONNX counts dimensions: none of a scalar.
    [[nodiscard]] core::Dimensions onnx_sizes() const { return is_scalar ? core::Dimensions{} : sizes; }
    /// An element as an integer; 0 for what is none, and for one that is not there.
    [[nodiscard]] std::int64_t integer(std::size_t index) const;
    /// As a list of a case file.
    [[nodiscard]] nlohmann::ordered_json list() const;
};

/// Sizes and data are checked against each other. An error also for strings, 4-bit types, tensors without elements and
/// data in other files. With `may_be_empty_list` a list of INT64 may be empty: axes, for example.
[[nodiscard]] core::Result<OnnxTensor> onnx_tensor(const onnx::TensorProto& proto, bool may_be_empty_list = false);

/// A packed tensor of `sizes` with the elements that these strides show. None may lie outside the tensor.
[[nodiscard]] OnnxTensor gathered(const OnnxTensor& tensor, const core::Dimensions& sizes,
                                  const core::Dimensions& strides);

/// A scalar of type FLOAT32.
[[nodiscard]] OnnxTensor one_number(float value);

/// Of type UINT32; as many as `sizes` say.
[[nodiscard]] OnnxTensor whole_numbers(const std::vector<std::uint32_t>& values, core::Dimensions sizes);

/// An error that says why where `number`, of TensorProto.DataType, is not a type of this program's.
[[nodiscard]] core::Result<core::DataType> onnx_data_type(int number);

/// The elements that a tensor of `sizes` has when this one is broadcast to it as ONNX and NumPy do; an error where it
/// cannot be. `strides` are set to those by which the tensor itself has them.
[[nodiscard]] core::Result<OnnxTensor> broadcast(const OnnxTensor& tensor, const core::Dimensions& sizes,
                                                 core::Dimensions& strides);

/// With its dimensions in another order: dimension d of the result is permutation[d] of the tensor. `strides` are those
/// by which the tensor itself has them so.
[[nodiscard]] OnnxTensor transposed(const OnnxTensor& tensor, const std::vector<std::size_t>& permutation,
                                    core::Dimensions& strides);

}  // namespace dmlconform::interop

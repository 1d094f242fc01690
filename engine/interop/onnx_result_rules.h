// Rules by which the sizes of nodes' outputs follow from their inputs.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {

/// A rule for the first output.
struct OnnxResultRule {
    core::Result<OnnxTensor> (*result)(const OnnxNode& node) = nullptr;
    std::initializer_list<std::string_view> types;
};

/// Element-wise functions.
[[nodiscard]] std::span<const OnnxResultRule> element_result_rules();
/// Reshapes, permutations, expansions and slices.
[[nodiscard]] std::span<const OnnxResultRule> shape_result_rules();
/// Gathers, joins, reductions, Einsum.
[[nodiscard]] std::span<const OnnxResultRule> selection_result_rules();

/// A tensor of these sizes, which are empty for a scalar, with the type of another tensor.
[[nodiscard]] inline core::Result<OnnxTensor> sized(const core::Dimensions& sizes, const OnnxTensor& like) {
    return unknown_tensor(like.type, sizes, like.is_bool);
}

/// The same with a given type.
[[nodiscard]] inline core::Result<OnnxTensor> sized(const core::Dimensions& sizes, core::DataType type) {
    return unknown_tensor(type, sizes);
}

/// All inputs broadcast to each other, with the type of input `typed`.
[[nodiscard]] core::Result<OnnxTensor> broadcast_result(const OnnxNode& node, std::size_t typed);

}  // namespace dmlconform::interop

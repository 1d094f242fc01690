// The list of ONNX operators that become one operator of DirectML. Nodes are mapped by it, and it is documented.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {

struct OnnxMapping {
    /// As in OnnxNode.
    std::string_view type;
    core::Result<nlohmann::ordered_json> (*map)(const OnnxNode& node) = nullptr;
    /// DirectML's operators, separated by ", ".
    std::string_view directml;
    /// What is not mapped, or is mapped differently. Empty if there is nothing to say.
    std::string_view remark = {};
};

/// Element-wise functions with broadcasting.
[[nodiscard]] std::span<const OnnxMapping> element_wise_mappings();
/// Element-wise operators with attributes that select DirectML's operator, or with parameters that are inputs.
[[nodiscard]] std::span<const OnnxMapping> parameterised_mappings();
/// Operators that move elements.
[[nodiscard]] std::span<const OnnxMapping> movement_mappings();
/// Operators that read or write at indices.
[[nodiscard]] std::span<const OnnxMapping> indexing_mappings();
/// Operators that rearrange elements: blocks, padding, repetition, reversal, diagonals.
[[nodiscard]] std::span<const OnnxMapping> arrangement_mappings();
/// Operators that create elements from constants and positions.
[[nodiscard]] std::span<const OnnxMapping> filling_mappings();
[[nodiscard]] std::span<const OnnxMapping> reduction_mappings();
/// Normalisations, softmaxes and hardmaxes.
[[nodiscard]] std::span<const OnnxMapping> normalisation_mappings();
/// Poolings and local response normalisation.
[[nodiscard]] std::span<const OnnxMapping> window_mappings();
/// Resampling and regions of interest.
[[nodiscard]] std::span<const OnnxMapping> resampling_mappings();
/// Recurrent networks. Their first output may be absent.
[[nodiscard]] std::span<const OnnxMapping> recurrent_mappings();
/// Matrix products and convolutions.
[[nodiscard]] std::span<const OnnxMapping> product_mappings();

[[nodiscard]] std::span<const OnnxMapping> quantised_convolution_mappings();

/// That of a node. Fails if there is none.
[[nodiscard]] core::Result<const OnnxMapping*> mapping_of(const OnnxNode& node);

/// All of them, by type.
[[nodiscard]] std::vector<OnnxMapping> onnx_mappings();

}  // namespace dmlconform::interop

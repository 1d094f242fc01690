// One node with the tensors of one data set, and what becomes of it as a case.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {

/// As ONNX's node tests have it. `otherwise` is what an attribute that the node does not have counts as.
struct OnnxNode {
    /// With the domain in front where that is not ONNX's own: "ai.onnx.preview.training.Adam".
    std::string type;
    const onnx::NodeProto* proto = nullptr;
    /// Of the node's domain.
    std::int64_t opset = 0;
    /// In the node's order; nothing for an absent optional one.
    std::vector<std::optional<OnnxTensor>> inputs;
    std::vector<std::optional<OnnxTensor>> outputs;

    [[nodiscard]] const OnnxTensor* input(std::size_t index) const {
        return index < inputs.size() && inputs[index] ? &*inputs[index] : nullptr;
    }
    [[nodiscard]] const OnnxTensor* output(std::size_t index) const {
        return index < outputs.size() && outputs[index] ? &*outputs[index] : nullptr;
    }
    [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const;
    [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
    [[nodiscard]] float number(std::string_view name, float otherwise) const;
    [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
    [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
    /// A list of integers that is an input in newer opsets and an attribute in older ones.
    [[nodiscard]] std::vector<std::int64_t> list(std::size_t input_index, std::string_view name) const;
};

/// Puts a case together: "operator", "desc", "inputs" and "expected".
class OnnxCase {
public:
    explicit OnnxCase(std::string_view operator_name) {
        object_["operator"] = "DML_OPERATOR_" + std::string(operator_name);
        object_["desc"] = nlohmann::ordered_json::object();
    }

    /// A packed tensor with its data; `sizes` may differ from the tensor's own, but not in number of elements.
    OnnxCase& input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes);
    OnnxCase& input(const std::string& field, const OnnxTensor& tensor) { return input(field, tensor, tensor.sizes); }
    /// A tensor that strides lay out; `tensor` has the elements that they show.
    OnnxCase& strided_input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& strides);
    /// A tensor that is broadcast to `sizes`, by strides of 0.
    core::Result<void> broadcast_input(const std::string& field, const OnnxTensor& tensor,
                                       const core::Dimensions& sizes);
    OnnxCase& output(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes);
    OnnxCase& output(const std::string& field, const OnnxTensor& tensor) { return output(field, tensor, tensor.sizes); }
    /// One of an array of tensors.
    OnnxCase& array_input(const std::string& field, std::size_t index, const OnnxTensor& tensor);
    OnnxCase& array_output(const std::string& field, std::size_t index, const OnnxTensor& tensor);
    OnnxCase& set(const std::string& field, nlohmann::ordered_json value);

    [[nodiscard]] nlohmann::ordered_json take() { return std::move(object_); }

private:
    nlohmann::ordered_json object_;
};

/// The case without its name and tolerance; an error says what has no counterpart.
[[nodiscard]] core::Result<nlohmann::ordered_json> map_node(const OnnxNode& node);

/// Nothing when the operator is not one of these: functions of each element, and operators with inputs like NumPy's.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_element_wise(const OnnxNode& node);
/// The same with attributes that choose the operator, or with parameters that are inputs.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_parameterised(const OnnxNode& node);
/// Operators that move elements.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_movement(const OnnxNode& node);
/// Operators that pick elements by indices, or put them there.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_indexing(const OnnxNode& node);
/// Operators that arrange all elements anew: blocks, padding, copies side by side, reversals, diagonals.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_arrangement(const OnnxNode& node);
/// Operators that make elements from numbers and from where they lie.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_filling(const OnnxNode& node);
/// Operators that reduce.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_reduction(const OnnxNode& node);
/// Normalisations, softmaxes and hardmaxes.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_normalisation(const OnnxNode& node);
/// Poolings and local response normalisation.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_window(const OnnxNode& node);
/// Resizing, and regions of interest.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_resampling(const OnnxNode& node);
/// Recurrent networks. Their first output may be absent.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_recurrent(const OnnxNode& node);
/// Matrix products and convolutions.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_product(const OnnxNode& node);
/// The quantised convolution.
[[nodiscard]] std::optional<core::Result<nlohmann::ordered_json>> map_composite(const OnnxNode& node);

/// InputTensor and OutputTensor of as many elements.
[[nodiscard]] core::Result<OnnxCase> unary_case(const OnnxNode& node, std::string_view directml);
/// The node's inputs under these names, broadcast to the size of the output.
[[nodiscard]] core::Result<nlohmann::ordered_json> broadcast_case(const OnnxNode& node, std::string_view directml,
                                                                  std::initializer_list<const char*> fields);

/// Sizes of so many dimensions, with ones in front.
[[nodiscard]] core::Dimensions padded(const core::Dimensions& sizes, std::size_t rank);
/// Sizes of so many dimensions: the parameter's lie along those from `first` on, the others are 1.
[[nodiscard]] core::Dimensions along(const OnnxTensor& parameter, std::size_t rank, std::size_t first);

/// The axes that a reduction or a Squeeze names: an input in newer opsets, an attribute in older ones. Nothing when one
/// is not among the dimensions of the first input, which is there.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> reduction_axes(const OnnxNode& node);
/// The sizes of what a Slice takes of its first input, which is there.
[[nodiscard]] core::Result<core::Dimensions> slice_sizes(const OnnxNode& node);
/// Which dimension of a Transpose's first input, which is there, each of the output is; nothing without a permutation.
[[nodiscard]] std::optional<std::vector<std::size_t>> transposed_order(const OnnxNode& node);

/// What the first output is like before anybody computes it: type, sizes, and zeros. An error for operators of which
/// nobody needs it, and where inputs do not fit.
[[nodiscard]] core::Result<OnnxTensor> first_result(const OnnxNode& node);

/// What Constant, Shape and Size are, which nobody has to compute; nothing for other operators.
[[nodiscard]] std::optional<core::Result<OnnxTensor>> constant_result(const OnnxNode& node);

/// The node with tensors of FLOAT32 for FLOAT64, and with `integers_too` of INT32 for INT64 and UINT32 for UINT64.
/// Nothing where that changes a value of an input, or where an output does not fit; outputs of FLOAT64 are rounded.
[[nodiscard]] std::optional<OnnxNode> narrowed(const OnnxNode& node, bool integers_too);

/// An axis that may count from the end; nothing when there is no such axis.
[[nodiscard]] std::optional<std::uint32_t> axis_of(std::int64_t axis, std::size_t rank);

}  // namespace dmlconform::interop

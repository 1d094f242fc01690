// An ONNX node with the tensors of one data set, and its conversion to a case.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/interop/onnx_tensor.h"
#include "engine/operators/operator_name.h"

namespace dmlconform::interop {

/// A node with its attributes. `otherwise` is the default of an absent attribute.
struct OnnxNode {
    /// With the domain unless it is ONNX's own: "ai.onnx.preview.training.Adam".
    std::string type;
    const onnx::NodeProto* proto = nullptr;
    /// The opset of the node's domain.
    std::int64_t opset = 0;
    /// In the node's order; empty for an absent optional one.
    std::vector<std::optional<OnnxTensor>> inputs;
    std::vector<std::optional<OnnxTensor>> outputs;

    [[nodiscard]] const OnnxTensor* input(std::size_t index) const {
        return index < inputs.size() && inputs[index] ? &*inputs[index] : nullptr;
    }
    [[nodiscard]] const OnnxTensor* output(std::size_t index) const {
        return index < outputs.size() && outputs[index] ? &*outputs[index] : nullptr;
    }
    /// Before opset 13, Resize has empty lists for absent inputs.
    void drop_empty_lists();
    [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const;
    [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
    [[nodiscard]] float number(std::string_view name, float otherwise) const;
    [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
    /// True if a Resize has a keep_aspect_ratio_policy by which its sizes say at least or at most how large the output is.
    [[nodiscard]] bool keeps_aspect_ratio() const;
    [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
    /// A list of integers that newer opsets have as an input and older ones as an attribute.
    [[nodiscard]] std::vector<std::int64_t> list(std::size_t input_index, std::string_view name) const;
};

/// Assembles a case: "operator", "desc", "inputs" and "expected".
class OnnxCase {
public:
    explicit OnnxCase(std::string_view operator_name) {
        object_["operator"] = std::string(operators::operator_prefix) + std::string(operator_name);
        object_["desc"] = nlohmann::ordered_json::object();
    }

    /// Adds a packed tensor with its data; `sizes` may differ from the tensor's own, but not in the number of elements.
    OnnxCase& input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes);
    OnnxCase& input(const std::string& field, const OnnxTensor& tensor) { return input(field, tensor, tensor.sizes); }
    /// Adds a tensor with strides; `tensor` has the elements in logical order.
    OnnxCase& strided_input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& strides);
    /// Adds a tensor that is broadcast to `sizes` by strides of 0.
    core::Result<void> broadcast_input(const std::string& field, const OnnxTensor& tensor,
                                       const core::Dimensions& sizes);
    OnnxCase& output(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes);
    OnnxCase& output(const std::string& field, const OnnxTensor& tensor) { return output(field, tensor, tensor.sizes); }
    /// Adds an element of an array of tensors.
    OnnxCase& array_input(const std::string& field, std::size_t index, const OnnxTensor& tensor);
    OnnxCase& array_output(const std::string& field, std::size_t index, const OnnxTensor& tensor);
    OnnxCase& set(const std::string& field, nlohmann::ordered_json value);

    [[nodiscard]] nlohmann::ordered_json take() { return std::move(object_); }

private:
    nlohmann::ordered_json object_;
};

/// The case without name and tolerance. Fails if something has no counterpart.
[[nodiscard]] core::Result<nlohmann::ordered_json> map_node(const OnnxNode& node);

/// A case with InputTensor and OutputTensor of the same number of elements.
[[nodiscard]] core::Result<OnnxCase> unary_case(const OnnxNode& node, std::string_view directml);
/// A case with the node's inputs under these names, broadcast to the size of the output.
[[nodiscard]] core::Result<nlohmann::ordered_json> broadcast_case(const OnnxNode& node, std::string_view directml,
                                                                  std::initializer_list<const char*> fields);

/// Prepends ones up to `rank` sizes.
[[nodiscard]] core::Dimensions padded(const core::Dimensions& sizes, std::size_t rank);
/// Sizes of `rank` dimensions: the parameter's sizes from dimension `first` on, otherwise 1.
[[nodiscard]] core::Dimensions along(const OnnxTensor& parameter, std::size_t rank, std::size_t first);

/// The axes of a reduction or Squeeze: an input in newer opsets, an attribute in older ones. Empty if one is out of
/// range for the first input, which must be present.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> reduction_axes(const OnnxNode& node);
/// The sizes of a Slice's output. The first input must be present.
[[nodiscard]] core::Result<core::Dimensions> slice_sizes(const OnnxNode& node);
/// For each dimension of a Transpose's output, the input's dimension; empty if it is not a permutation. The first input
/// must be present.
[[nodiscard]] std::optional<std::vector<std::size_t>> transposed_order(const OnnxNode& node);

/// Types and sizes of the outputs before they are computed, at least of the first one. Fails for unknown operators and
/// inconsistent inputs.
[[nodiscard]] core::Result<std::vector<OnnxTensor>> results(const OnnxNode& node);
[[nodiscard]] core::Result<OnnxTensor> first_result(const OnnxNode& node);
/// The same for windows, products and recurrent networks; empty for other operators.
[[nodiscard]] std::optional<core::Result<std::vector<OnnxTensor>>> window_results(const OnnxNode& node);

/// The values of Constant, Shape and Size, which do not depend on elements; empty for other operators.
[[nodiscard]] std::optional<core::Result<OnnxTensor>> constant_result(const OnnxNode& node);

/// The node with FLOAT32 instead of FLOAT64, and with `integers_too` INT32 instead of INT64 and UINT32 instead of
/// UINT64. Empty if that changes a known value of an input, or if an output is out of range; outputs of FLOAT64 are
/// rounded.
[[nodiscard]] std::optional<OnnxNode> narrowed(const OnnxNode& node, bool integers_too);

/// The tensor with FLOAT64 rounded to FLOAT32. Fails if an element is out of range.
[[nodiscard]] core::Result<OnnxTensor> with_rounded_doubles(OnnxTensor tensor);

/// An axis that may count from the end; empty if it is out of range.
[[nodiscard]] std::optional<std::uint32_t> axis_of(std::int64_t axis, std::size_t rank);

}  // namespace dmlconform::interop

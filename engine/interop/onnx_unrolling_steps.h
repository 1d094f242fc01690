// Values and helpers of unrolling: adds nodes of tensors, and reads what must be known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/interop/onnx_expansion.h"

namespace dmlconform::interop {

/// A tensor, a sequence of tensors, or an optional value of either.
struct UnrolledValue {
    bool is_sequence = false;
    /// False for an optional value that is empty.
    bool has_value = true;
    /// The name of the tensor, or those of the sequence's tensors.
    std::vector<std::string> tensors;
};

namespace unrolling {

using Values = std::vector<UnrolledValue>;
using AddNode = std::function<core::Result<void>(onnx::NodeProto)>;

[[nodiscard]] std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise);

class Steps {
public:
    Steps(std::int64_t opset, KnownTensor known, AddNode add)
        : opset_(opset), known_(std::move(known)), add_(std::move(add)) {}

    [[nodiscard]] std::int64_t opset() const { return opset_; }
    /// Adds a node of the graph itself.
    [[nodiscard]] core::Result<void> keep(onnx::NodeProto node) { return add_(std::move(node)); }
    /// Adds a node that a body runs. Fails if there are too many.
    [[nodiscard]] core::Result<void> add(onnx::NodeProto node);
    /// Adds a node with one output of a new name, which becomes the value.
    [[nodiscard]] core::Result<UnrolledValue> add(const char* type, std::vector<std::string> inputs,
                                                  std::vector<onnx::AttributeProto> attributes);
    [[nodiscard]] core::Result<UnrolledValue> truth(bool value);
    [[nodiscard]] core::Result<UnrolledValue> number(std::int64_t value);
    /// The only element of a tensor, which must be known.
    [[nodiscard]] core::Result<std::int64_t> known_integer(const UnrolledValue& value) const;
    /// The size of a tensor's dimension, which must be known. The axis may count from the end.
    [[nodiscard]] core::Result<std::int64_t> known_size(const UnrolledValue& tensor, std::int64_t axis) const;
    /// Joins tensors along a new axis, or along one that they have.
    [[nodiscard]] core::Result<UnrolledValue> joined(const std::vector<std::string>& tensors, std::int64_t axis,
                                                     bool new_axis);
    /// The slice of a tensor at one index of an axis, without that axis.
    [[nodiscard]] core::Result<UnrolledValue> picked(const UnrolledValue& tensor, std::int64_t axis,
                                                     std::int64_t position);

private:
    [[nodiscard]] core::Result<UnrolledValue> constant(onnx::TensorProto tensor);
    /// A tensor of one dimension with one number.
    [[nodiscard]] core::Result<UnrolledValue> number_list(std::int64_t value);

    std::int64_t opset_;
    KnownTensor known_;
    AddNode add_;
    std::size_t added_ = 0;
};

/// The results of an operator on sequences or optional values; empty for other operators.
[[nodiscard]] std::optional<core::Result<Values>> sequence_results(const onnx::NodeProto& node, const Values& inputs,
                                                                   Steps& steps);
/// The operators that sequence_results knows.
[[nodiscard]] std::vector<std::string_view> sequence_operators();

}  // namespace unrolling
}  // namespace dmlconform::interop

// Expands ONNX nodes that need several operators of DirectML into several ONNX nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {

/// Looks up tensors of the data set or of the model. Of those of a model, elements may be unknown.
using KnownTensor = std::function<const OnnxTensor*(const std::string& name)>;

/// The nodes that replace the node; only the node itself if it is a single operator or unsupported. Fails if it cannot
/// be expanded. `number` is the node's index, for unique names.
[[nodiscard]] core::Result<std::vector<onnx::NodeProto>> expanded(const onnx::NodeProto& node, std::int64_t opset,
                                                                  std::size_t number, const KnownTensor& known);

/// An operator that is expanded, at least for some nodes.
struct ExpandedOperator {
    /// With the domain unless it is ONNX's own.
    std::string type;
    /// What becomes of it. Empty if a mapping says it, and for com.microsoft.
    std::string remark;
};
[[nodiscard]] std::vector<ExpandedOperator> expanded_operators();

}  // namespace dmlconform::interop

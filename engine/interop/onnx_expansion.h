// Nodes that are several operators of DirectML, as several nodes of ONNX.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {

/// What is known of a graph where its nodes are looked at: tensors that the data set or the model has.
using KnownTensor = std::function<const OnnxTensor*(const std::string& name)>;

/// The nodes that compute what the node does; only itself where it is one operator, or none at all. An error says why
/// it cannot be done. `number` is the node's place, which makes names of its own.
[[nodiscard]] core::Result<std::vector<onnx::NodeProto>> expanded(const onnx::NodeProto& node, std::int64_t opset,
                                                                  std::size_t number, const KnownTensor& known);

}  // namespace dmlconform::interop

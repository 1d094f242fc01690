// Nodes that do not change bytes: their output is their input with other sizes.
#pragma once

#include <optional>

#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {

/// The first input with the sizes of the first output; empty if the node computes something. The inputs that
/// inputs_to_know lists must be known.
[[nodiscard]] std::optional<OnnxTensor> alias_of(const OnnxNode& node);

}  // namespace dmlconform::interop

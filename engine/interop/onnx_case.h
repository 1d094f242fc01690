// A node as an object of a case file, and what the reference computes of it.
#pragma once

#include <optional>
#include <string>

#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {

/// A legal case without a name. Where the operator does not take 64 bits, and the data of the node are its own and not
/// computed for others (`may_narrow`), numbers of 64 bits become such of 32 bits.
[[nodiscard]] core::Result<nlohmann::ordered_json> case_object(const OnnxNode& node, bool may_narrow);

/// What the reference computes as the case's one output, which is like `like`.
[[nodiscard]] core::Result<OnnxTensor> computed_output(const nlohmann::ordered_json& object, const OnnxTensor& like);

/// With name and description, and the tolerance of what is expected: that of ONNX's own runner, but for operators that
/// do not round. With `rounded_inputs` for those too: the inputs are not what ONNX computed in every bit.
[[nodiscard]] nlohmann::ordered_json completed(nlohmann::ordered_json object, const std::string& name,
                                               std::string description, bool rounded_inputs);

}  // namespace dmlconform::interop

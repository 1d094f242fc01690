// Converts an ONNX node to an object of a case file, and computes its outputs by the reference.
#pragma once

#include <string>

#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {

/// A legal case without a name. If the operator does not support 64-bit types and the data belong to the node itself
/// (`may_narrow`), they are converted to 32 bits.
[[nodiscard]] core::Result<nlohmann::ordered_json> case_object(const OnnxNode& node, bool may_narrow);

/// The reference's output of a case with one output, which has the type and sizes of `like`.
[[nodiscard]] core::Result<OnnxTensor> computed_output(const nlohmann::ordered_json& object, const OnnxTensor& like);

/// Adds name, description and tolerance. It is that of ONNX's own test runner, except for operators that do not round.
/// With `rounded_inputs` it also applies to those, because the inputs are not bitwise ONNX's.
[[nodiscard]] nlohmann::ordered_json completed(nlohmann::ordered_json object, const std::string& name,
                                               std::string description, bool rounded_inputs);

}  // namespace dmlconform::interop

// What nodes of ONNX models say: their types, attributes, and the names that they read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>

#include "engine/interop/onnx_messages.h"

namespace dmlconform::interop {

[[nodiscard]] bool is_own_domain(const std::string& domain);

/// "Conv", "com.microsoft.FusedMatMul".
[[nodiscard]] std::string full_type(const onnx::NodeProto& node);

/// Versions of operator sets by domain; ONNX's own is "".
[[nodiscard]] std::map<std::string, std::int64_t> opsets_of(const std::vector<onnx::OperatorSetIdProto>& imports);

/// Null if the node has no such attribute.
[[nodiscard]] const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name);

/// Adds every name that the node reads, including those in its branches.
void add_reads(const onnx::NodeProto& node, std::unordered_set<std::string>& names);

}  // namespace dmlconform::interop

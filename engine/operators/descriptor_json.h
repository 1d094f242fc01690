// Descriptors as JSON, for sending them to another process. The form is that of a case file's `operator` and `desc`,
// with every field present.
//
//     {"operator": "DML_OPERATOR_SLICE1", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4], …}, …}}
//
// Differences from a case file: absent fields are null, counts are present, a tensor has all members except absent
// strides, a fused activation is {"Type": …, "Desc": …}, a scalar union is its bits as an unsigned integer, and an
// enumerator unknown to the catalogue is its number. docs/worker-protocol.md has the details.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/core/error.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// Writes {"operator": …, "desc": …}. Illegal descriptors can be written, too.
[[nodiscard]] nlohmann::json descriptor_to_json(const Descriptor& descriptor);

/// Reads what descriptor_to_json writes. The input is untrusted: an error names the first malformed field. The result
/// may be illegal, which validate() decides. But counts equal the lengths of their arrays, and a tensor has as many
/// strides as sizes.
[[nodiscard]] core::Result<Descriptor> descriptor_from_json(const nlohmann::json& value);

/// Writes a single tensor in this form.
[[nodiscard]] nlohmann::json tensor_desc_to_json(const core::TensorDesc& desc);
/// Reads a single tensor. `name` is used in messages.
[[nodiscard]] core::Result<core::TensorDesc> tensor_desc_from_json(const std::string& name,
                                                                   const nlohmann::json& value);

}  // namespace dmlconform::operators

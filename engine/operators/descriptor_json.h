// Descriptors as JSON values, to send them to another process: the form of a case file's `operator` and `desc`, with
// nothing left to be filled in.
//
//     {"operator": "DML_OPERATOR_SLICE1", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4], …}, …}}
//
// Unlike a case file's, such a description says everything: absent fields are null, counts are there, a tensor has all
// members but for absent strides, a fused activation is {"Type": …, "Desc": …}, a scalar union is its bits as an
// unsigned integer, and an enumerator that the catalogue does not have is its number. docs/worker-protocol.md has it
// in full.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/core/error.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// {"operator": …, "desc": …}. Works for illegal descriptors too.
[[nodiscard]] nlohmann::json descriptor_to_json(const Descriptor& descriptor);

/// What descriptor_to_json writes. Nothing is trusted: an error names the first field that is not as it must be. The
/// result can still be illegal, which is validate()'s business; but counts are the lengths of the arrays that they
/// count, and a tensor has as many strides as sizes.
[[nodiscard]] core::Result<Descriptor> descriptor_from_json(const nlohmann::json& value);

}  // namespace dmlconform::operators

// The rules that hold for every tensor of every operator.
#pragma once

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Checks sizes, strides, total size and alignment of one tensor, and whether the catalogue allows its type and rank at
/// `level`.
[[nodiscard]] Verdict validate_tensor(const OperatorSchema& schema, const Field& field, const core::TensorDesc& desc,
                                      core::FeatureLevel level);

}  // namespace dmlconform::operators

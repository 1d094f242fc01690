// Rules that catalogue entries state: properties that tensors have in common, and attributes that depend on tensors.
#pragma once

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Checks those constraints of the operator's entry whose fields are present.
[[nodiscard]] Verdict validate_constraints(const Descriptor& descriptor);

/// Checks only whether axes are within their tensors, and whether attributes have an entry for each dimension.
[[nodiscard]] Verdict validate_ranges(const Descriptor& descriptor);

/// The rules that validate_constraints may name for this operator. Each occurs once, with all its constraints.
[[nodiscard]] ExplainedRules explained_constraints(const OperatorSchema& schema);

}  // namespace dmlconform::operators

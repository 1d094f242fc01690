// Rules that catalogue entries state: properties that tensors have in common, and attributes that depend on tensors.
#pragma once

#include <string>
#include <vector>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Checks those constraints of the operator's entry whose fields are present.
[[nodiscard]] Verdict validate_constraints(const Descriptor& descriptor);

/// The rules that validate_constraints may name for this operator.
[[nodiscard]] std::vector<std::string> constraint_rule_names(const OperatorSchema& schema);

/// One line for each constraint of the entry, such as "InputTensor, OutputTensor: same DataType".
[[nodiscard]] std::vector<std::string> constraint_lines(const OperatorSchema& schema);

}  // namespace dmlconform::operators

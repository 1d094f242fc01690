// The rules that catalogue entries state: properties that tensors share, and attributes that follow from tensors.
#pragma once

#include <string>
#include <vector>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Checks the constraints of the descriptor's entry where the fields they name are present.
[[nodiscard]] Verdict validate_constraints(const Descriptor& descriptor);

/// The rules that validate_constraints may name for this operator.
[[nodiscard]] std::vector<std::string> constraint_rule_names(const OperatorSchema& schema);

/// "InputTensor, OutputTensor: same DataType": one line for each constraint of the entry.
[[nodiscard]] std::vector<std::string> constraint_lines(const OperatorSchema& schema);

}  // namespace dmlconform::operators

// Conditions on the values that tensors and attributes have for the same dimension.
//
//     { "InputWindowStrides": 1, "different": ["OutputTensor", "InputWindowSizes"] }
//     { "OutputTensor": 1, "before": { "OutputTensor": { "above": 1 } } }
#pragma once

#include <functional>

#include "engine/expectations/condition.h"

namespace dmlconform::expectations {

/// Null if no operator of the entry has a field of that name.
using FindField = std::function<const operators::Field*(const std::string&)>;

/// A condition that holds if it does so for some dimension. For tensors it refers to the size, for arrays to the entry.
/// Dimensions that one of them lacks do not count.
[[nodiscard]] std::optional<Condition> read_dimension_condition(const cases::JsonValue& value,
                                                                const FindField& find_field,
                                                                cases::ProblemSink& problems);

}  // namespace dmlconform::expectations

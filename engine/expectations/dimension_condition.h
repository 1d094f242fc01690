// Conditions on what tensors and attributes have for one and the same dimension.
//
//     { "InputWindowStrides": 1, "different": ["OutputTensor", "InputWindowSizes"] }
#pragma once

#include <functional>

#include "engine/expectations/condition.h"

namespace dmlconform::expectations {

/// Null if no operator of the entry has a field of that name.
using FindField = std::function<const operators::Field*(const std::string&)>;

/// Holds when it does for some dimension: of a tensor the size counts, of an array the entry. A dimension that one of
/// them does not have is none.
[[nodiscard]] std::optional<Condition> read_dimension_condition(const cases::JsonValue& value,
                                                                const FindField& find_field,
                                                                cases::ProblemSink& problems);

}  // namespace dmlconform::expectations

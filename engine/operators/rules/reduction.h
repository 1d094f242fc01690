// The data types that each function of REDUCE accepts.
#pragma once

#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/feature_level.h"
#include "engine/operators/enumerations.h"

namespace dmlconform::operators {

/// The functions that accept the data type at that level.
[[nodiscard]] std::vector<ReduceFunction> functions_of(core::DataType type, core::FeatureLevel level);

}  // namespace dmlconform::operators

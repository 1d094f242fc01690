// The functions of REDUCE, and the data types that each accepts.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/feature_level.h"

namespace dmlconform::operators {

/// DML_REDUCE_FUNCTION.
enum class ReduceFunction : std::uint32_t {
    arg_max = 0,
    arg_min = 1,
    average = 2,
    l1 = 3,
    l2 = 4,
    log_sum = 5,
    log_sum_exp = 6,
    max = 7,
    min = 8,
    multiply = 9,
    sum = 10,
    sum_square = 11,
};

/// The functions that accept the data type at that level.
[[nodiscard]] std::vector<ReduceFunction> functions_of(core::DataType type, core::FeatureLevel level);

}  // namespace dmlconform::operators

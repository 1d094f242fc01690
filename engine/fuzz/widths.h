// The widths of the error ranges that an operator's tolerance amounts to. For documentation, and to notice tolerances
// that have become too wide.
#pragma once

#include "engine/run/operator_table.h"

namespace dmlconform::fuzz {

/// Computes the widths over a fixed set of random arguments for element-wise operators, and of random cases for others.
/// Those of FLOAT16 always come from random cases.
[[nodiscard]] run::WidthsByType widths_of(const operators::OperatorSchema& schema);

}  // namespace dmlconform::fuzz

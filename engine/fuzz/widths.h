// The widths of the error ranges that an operator's tolerance amounts to. For documentation, and to notice tolerances
// that have become too wide.
#pragma once

#include <optional>

#include "engine/cpu/element_wise/widths.h"

namespace dmlconform::fuzz {

/// Computes the widths over a fixed set of random arguments for element-wise operators, and of random cases for others.
/// Empty if no element has a range.
[[nodiscard]] std::optional<cpu::element_wise::Widths> widths_of(const operators::OperatorSchema& schema);

}  // namespace dmlconform::fuzz

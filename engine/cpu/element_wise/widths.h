// The widths of the error ranges that an element-wise operator's tolerance amounts to. For documentation, and to notice
// tolerances that have become too wide.
#pragma once

#include <optional>

#include "engine/operators/catalogue.h"

namespace dmlconform::cpu::element_wise {

/// The distance from the smallest to the largest accepted number, in ULPs of the output's type; for integers in units.
struct Widths {
    double median = 0;
    double largest = 0;
};

/// Computes the widths over a fixed set of random arguments, FLOAT32 if the operator supports it. Empty for operators
/// that are not real-valued element-wise ones.
[[nodiscard]] std::optional<Widths> widths_of(const operators::OperatorSchema& schema);

}  // namespace dmlconform::cpu::element_wise

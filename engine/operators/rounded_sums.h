// How many roundings an element of an operator's output goes through, from the sizes of the tensors.
#pragma once

#include <vector>

#include "engine/core/rounded_sum.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// The sums of which each has results of the one before it among its terms, for compare::highest_truncating_q. Sums
/// that are computed beside each other count as one. Operations that are not part of a sum count in the first.
[[nodiscard]] std::vector<core::RoundedSum> rounded_sums(const Descriptor& descriptor);

}  // namespace dmlconform::operators

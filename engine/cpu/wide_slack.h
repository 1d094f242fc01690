// Ranges of elements that are wider than the noise of a graph's runs shows.
#pragma once

#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

/// How many times an element's usual error its worst error may be, for no other reason than that all roundings of its
/// sums add up.
[[nodiscard]] double worst_by_rounding(const operators::Descriptor& descriptor);

/// True if implementations may differ by more than noise shows: where an element may be infinite or NaN in one and
/// finite in another, or where its range is more than `far` times as wide as its error usually is, as at the edge of an
/// image.
[[nodiscard]] bool may_differ_widely(const core::ElementSlack& slack, double far);

}  // namespace dmlconform::cpu

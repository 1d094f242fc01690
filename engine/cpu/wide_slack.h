// Ranges of elements that are wider than the noise of a graph's runs shows.
#pragma once

#include "engine/core/tolerance.h"

namespace dmlconform::cpu {

/// True if implementations may differ by more than noise shows: where an element may be infinite or NaN in one and
/// finite in another, or where its range is far wider than its error usually is, as at the edge of an image.
[[nodiscard]] bool may_differ_widely(const core::ElementSlack& slack);

}  // namespace dmlconform::cpu

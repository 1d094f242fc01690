// Random windows that slide over a picture, and how often they stop.
#pragma once

#include "engine/fuzz/random.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Draws the sizes, strides, dilations and padding that the operator has, so that the window fits into a picture of
/// batches, channels and spatial dimensions; padding is at most so large on each side. The result is how often the
/// window stops along each spatial dimension.
core::Dimensions draw_windows(Random& random, operators::Descriptor& descriptor, const core::Dimensions& picture,
                              std::uint32_t most_padding);

}  // namespace dmlconform::fuzz

// Random windows that slide over a tensor.
#pragma once

#include "engine/fuzz/random.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Draws those of sizes, strides, dilations and padding that the operator has, such that the window fits a tensor of
/// batches, channels and spatial dimensions. `most_padding` limits the padding on each side. Returns the number of
/// window positions along each spatial dimension.
core::Dimensions draw_windows(Random& random, operators::Descriptor& descriptor, const core::Dimensions& image,
                              std::uint32_t most_padding);

}  // namespace dmlconform::fuzz

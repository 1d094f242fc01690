// Slips: one thing in a descriptor is changed, mostly to something illegal.
#pragma once

#include <string>

#include "engine/fuzz/random.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Changes one field, and says which. The descriptor stays one that can be written down: counts are the lengths of
/// their arrays, tensors have as many strides as sizes. It may still be legal.
[[nodiscard]] std::string mutate(Random& random, operators::Descriptor& descriptor);

}  // namespace dmlconform::fuzz

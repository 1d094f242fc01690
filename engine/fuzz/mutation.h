// Random changes of a descriptor, most of which make it illegal.
#pragma once

#include <string>

#include "engine/fuzz/random.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Changes one field and returns its name. The descriptor stays well-formed: counts are the lengths of their arrays,
/// and tensors have as many strides as sizes. It may still be legal.
[[nodiscard]] std::string mutate(Random& random, operators::Descriptor& descriptor);

}  // namespace dmlconform::fuzz

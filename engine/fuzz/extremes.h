// Extreme numbers, such as NaN, infinities, huge and tiny ones, for attributes and elements that an operator computes
// with.
#pragma once

#include "engine/cases/case.h"
#include "engine/fuzz/random.h"

namespace dmlconform::fuzz {

/// Sets some floating-point attributes of a legal descriptor, including those of fused activations, to extreme numbers.
/// Numbers that the rules reject at this level are not changed.
void set_extreme_attributes(Random& random, operators::Descriptor& descriptor, core::FeatureLevel level);

/// Sets some elements of a packed floating-point tensor to extreme numbers.
void set_extreme_elements(Random& random, core::DataType type, std::vector<std::byte>& elements);

}  // namespace dmlconform::fuzz

// Sizes of other inputs that follow from the first tensor's, where a user only gives those.
#pragma once

#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Gives the inputs after the first tensor the sizes that a user would choose for it: square matrices, filters of 3x3
/// with as many channels, one scale for all elements. Leaves an input as it is if the operator has no natural choice,
/// or if it follows from DirectML's rules.
void follow_first_tensor(operators::Descriptor& descriptor);

}  // namespace dmlconform::fuzz

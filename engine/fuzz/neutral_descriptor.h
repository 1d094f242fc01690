// Descriptors with neutral attributes, for users who only give the sizes of tensors.
#pragma once

#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Sets attributes to their neutral values (engine/operators/neutral.h) and removes optional tensors, as far as the
/// descriptor stays legal with adjusted outputs. The descriptor must be legal.
void make_neutral(operators::Descriptor& descriptor);

/// Sets sizes that follow neither from DirectML's rules nor from the first tensor: the outputs of resampling follow
/// from its scales, and the hidden size of a recurrent network is its input size unless weights are given.
/// Bidirectional networks get activations for both directions.
void set_neutral_sizes(operators::Descriptor& descriptor, bool weights_are_given);

}  // namespace dmlconform::fuzz

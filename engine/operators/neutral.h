// Neutral values of attributes, which add nothing to an operator's basic function. The table is
// neutral_attributes.json.
#pragma once

#include <optional>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// The neutral value of an attribute, for a descriptor whose tensors are set: the simplest enumerator, strides and
/// dilations of 1, no padding, no fused activation, the last axis, or what the table says. Arrays keep their lengths.
/// Empty if no value is neutral, as for the sizes of windows.
[[nodiscard]] std::optional<FieldValue> neutral_value(const Descriptor& descriptor, const Field& field);

}  // namespace dmlconform::operators

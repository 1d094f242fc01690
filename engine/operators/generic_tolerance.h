// What difference is accepted where a case states no tolerance.
#pragma once

#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// For operators whose kernel states none (see engine/cpu/reference.h): exact for integers and for operators that only
/// move or select elements; otherwise a number of ULPs of the output's type that holds for a formula with one
/// transcendental function and a few roundings. Cases whose results need more, sums with cancellation for example,
/// state a tolerance.
[[nodiscard]] core::Tolerance generic_tolerance(const Descriptor& descriptor, const TensorSlot& output);

}  // namespace dmlconform::operators

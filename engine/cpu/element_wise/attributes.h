// The attributes of element-wise operators, as their formulas read them.
#pragma once

#include "engine/cpu/element_wise/row.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::element_wise {

/// The ScaleBias, if it has an effect; otherwise null. Measured on DirectML 1.15.4: {1, 0} counts as absent.
[[nodiscard]] const operators::ScaleBias* scale_bias_of(const operators::Descriptor& descriptor);

/// The fused activation; null if there is none.
[[nodiscard]] const operators::Descriptor* activation_of(const operators::Descriptor& descriptor);

/// What a formula reads besides its elements, for double, Signed and Unsigned.
template <class T>
[[nodiscard]] Context<T> context_of(const operators::Descriptor& descriptor);

/// The same for intervals.
[[nodiscard]] Context<Interval> interval_context(const Context<double>& real);

/// True if the row treats the descriptor's elements as real numbers.
[[nodiscard]] bool computes_in_reals(const Row& row, const operators::Descriptor& descriptor);

/// True if results are rounded, so that implementations may differ: those of real numbers, of integers with a
/// ScaleBias, and of integers that become FLOAT16, to which Direct3D may round to nearest or towards zero.
[[nodiscard]] bool rounds(const Row& row, const operators::Descriptor& descriptor);

}  // namespace dmlconform::cpu::element_wise

// Outputs that say nothing: not written to, or all zero.
#pragma once

#include <optional>
#include <string>

#include "engine/core/tensor.h"

namespace dmlconform::run {

/// What is wrong with the output as a whole, whatever a tolerance makes of its elements: that the engine wrote nothing
/// to it, or that it is all zero where `expected`, which is packed, is not. Elements expected to be subnormal count as
/// zero, because many devices take them for it, and so do integers within 1 of it, because they may be rounded to it.
/// With `zeros_are_bounded`, each zero was held against a bound of its own, and may be right.
[[nodiscard]] std::optional<std::string> blank_output(const core::Tensor& expected, const core::Tensor& actual,
                                                      bool zeros_are_bounded = false);

}  // namespace dmlconform::run

// Judges the outputs of DYNAMIC_QUANTIZE_LINEAR together.
//
// Beside a tie, either of two zero points is right, and so are either of two codes for every element. Each output alone
// may then be off by one. Together they may not: the codes follow from the scale and the zero point that the engine
// itself returned.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/operators/descriptor.h"
#include "engine/run/result.h"

namespace dmlconform::run {

/// Compares the codes again if each output of the operator is within its tolerance. If they do not follow, the result's
/// first output has the comparison afterwards, and this returns why. Empty for other operators.
[[nodiscard]] std::string judge_codes(const operators::Descriptor& descriptor,
                                      std::span<const core::Tensor* const> inputs,
                                      const std::vector<core::Tensor>& outputs, CaseResult& result);

}  // namespace dmlconform::run

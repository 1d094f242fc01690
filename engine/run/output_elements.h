// The elements of a case's outputs as numbers, for expectations that depend on them.
#pragma once

#include <optional>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/precision.h"
#include "engine/core/tensor.h"
#include "engine/expectations/case_facts.h"
#include "engine/expectations/field_changes.h"

namespace dmlconform::run {

/// All elements in row-major order.
[[nodiscard]] std::vector<double> elements_of(const core::Tensor& tensor);

/// What the reference expects of the case. Results of FLOAT16 have not been rounded to FLOAT16, if the operator takes
/// FLOAT32 as well: the same elements in packed tensors of FLOAT32 give them. The case must outlive the result.
[[nodiscard]] expectations::OutputElements elements_by_reference(const cases::Case& subject);

/// For each element of an output, whether an engine that promises the precision may have computed it for the
/// changed case. What looks unwritten counts only if that case has exactly these bits there. Nothing if such a case is
/// not legal or has no reference.
[[nodiscard]] std::optional<std::vector<bool>> accepted_with(const cases::Case& subject, std::size_t output,
                                                             const expectations::OtherCase& other,
                                                             const core::Tensor& actual, core::Precision precision);

/// What is expected of an output, not rounded to FLOAT16 where the reference agrees: where `expected`, rounded to
/// nearest even, is what `unrounded` has. `unrounded` may be missing.
[[nodiscard]] std::vector<double> unrounded(const core::Tensor& expected,
                                            const std::optional<std::vector<double>>& unrounded);

}  // namespace dmlconform::run

// The `tolerance` of a case: output field name -> tolerance, "*" for all outputs.
#pragma once

#include <optional>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cases {

/// Reads one tolerance for each of Descriptor::outputs(); empty for the operator's default. A null `value` gives all
/// defaults.
[[nodiscard]] std::vector<std::optional<core::Tolerance>> read_tolerances(const JsonValue* value,
                                                                          const operators::Descriptor& descriptor,
                                                                          ProblemSink& problems);

}  // namespace dmlconform::cases

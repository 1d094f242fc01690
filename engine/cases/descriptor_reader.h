// Reads the `desc` of a case into a descriptor, by the operator's catalogue entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cases {

/// Reads an operator's struct, whose fields are spelt as in DirectML.h. Reports problems of form (unknown or missing
/// fields, wrong JSON types, inconsistent counts); the result is then empty. operators::validate decides whether a
/// descriptor is legal.
[[nodiscard]] std::optional<operators::Descriptor> read_descriptor(const JsonValue& desc,
                                                                   const operators::OperatorSchema& schema,
                                                                   ProblemSink& problems);

/// "did you mean `SLICE1`?" for a mistyped operator name. Suggests a short or a full name, like `name`. Empty if no
/// name is similar.
[[nodiscard]] std::string operator_suggestion(std::string_view name);

}  // namespace dmlconform::cases

// From the `desc` of a case to a descriptor, by the operator's catalogue entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cases {

/// Reads an operator's struct, field for field in DirectML.h's spelling. Reports whatever is wrong with the form
/// (unknown or missing fields, wrong JSON types, counts that disagree) and returns nothing then; whether the descriptor
/// is legal is for operators::validate to say.
[[nodiscard]] std::optional<operators::Descriptor> read_descriptor(const JsonValue& desc,
                                                                   const operators::OperatorSchema& schema,
                                                                   ProblemSink& problems);

/// "did you mean `SLICE1`?" for a mistyped operator, spelt in full or short as `name` is; empty when nothing is near.
[[nodiscard]] std::string operator_suggestion(std::string_view name);

}  // namespace dmlconform::cases

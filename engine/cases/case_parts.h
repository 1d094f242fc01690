// Members that cases and graph nodes have in common: name, operator, and outputs that are computed in place.
#pragma once

#include <string>
#include <string_view>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cases {

/// The string under a key. Null if it is missing, which is reported if the key is required. `what` is for messages,
/// such as "a case".
[[nodiscard]] const std::string* read_string(const JsonValue& object, std::string_view key, bool required,
                                             std::string_view what, ProblemSink& problems);

/// The checked name of a case or a node; empty if it is missing or wrong.
[[nodiscard]] std::string read_name(const JsonValue& object, std::string_view what, ProblemSink& problems);

/// The operator that "operator" names; null if it is missing or unknown.
[[nodiscard]] const operators::OperatorSchema* read_operator(const JsonValue& object, std::string_view what,
                                                             ProblemSink& problems);

/// Reads "inPlace" into a descriptor whose other members are complete.
void read_in_place(const JsonValue& object, operators::Descriptor& descriptor, ProblemSink& problems);

}  // namespace dmlconform::cases

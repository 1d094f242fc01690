// Reading of one case of a case file.
#pragma once

#include <optional>
#include <string>

#include "engine/cases/case.h"
#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::cases {

/// Keys of a case, in the order in which they are documented.
[[nodiscard]] std::span<const std::string> case_keys();

/// Reads a case into which the file's defaults are merged already. Reports what is wrong and returns nothing then.
[[nodiscard]] std::optional<Case> read_case(const JsonValue& value, const std::string& file_stem,
                                            ProblemSink& problems);

}  // namespace dmlconform::cases

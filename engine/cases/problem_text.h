// Problems as text for a terminal.
#pragma once

#include "engine/cases/problems.h"
#include "engine/core/shown_text.h"

namespace dmlconform::cases {

/// The text of to_string, made safe for a terminal.
[[nodiscard]] core::ShownText shown(const Problem& problem);

}  // namespace dmlconform::cases

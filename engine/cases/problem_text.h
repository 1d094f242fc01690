// Problems as people are shown them.
#pragma once

#include "engine/cases/problems.h"
#include "engine/core/shown_text.h"

namespace dmlconform::cases {

/// What to_string says, fit for a terminal.
[[nodiscard]] core::ShownText shown(const Problem& problem);

}  // namespace dmlconform::cases

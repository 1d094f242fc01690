// Which of the loaded cases are run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/case.h"

namespace dmlconform::run {

/// Matches the whole text: `*` any characters, `?` one, everything else itself.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

/// Cases whose id matches one of `filters` (none: all) and that have all of `tags`, in their order.
[[nodiscard]] std::vector<const cases::Case*> select(std::span<const cases::Case> cases,
                                                     std::span<const std::string> filters,
                                                     std::span<const std::string> tags);

}  // namespace dmlconform::run

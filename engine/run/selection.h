// Which of the loaded cases are run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/case.h"

namespace dmlconform::run {

/// Matches the whole text: `*` any characters, `?` one, everything else itself.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

/// Chooses cases.
struct Selector {
    /// Globs, of which the id has to match one; none: all ids.
    std::vector<std::string> filters;
    /// Of which a case has to have all.
    std::vector<std::string> tags;

    [[nodiscard]] bool matches(const cases::Case& subject) const;
};

}  // namespace dmlconform::run

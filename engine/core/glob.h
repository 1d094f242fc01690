// Patterns for names, as filters and expectations have them.
#pragma once

#include <string_view>

namespace dmlconform::core {

/// Matches the whole text: `*` any characters, `?` one, everything else itself.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace dmlconform::core

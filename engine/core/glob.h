// Wildcard patterns for names, as filters and expectations use them.
#pragma once

#include <string_view>

namespace dmlconform::core {

/// Matches the whole text. `*` matches any number of characters, `?` exactly one, and all others match themselves.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace dmlconform::core

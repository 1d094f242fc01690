// docs/operators.md: all operators, and what this program has for them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace dmlconform::run {

/// Markdown. `cases` says how many there are of an operator, by its full name.
[[nodiscard]] std::string operator_table(const std::map<std::string, std::size_t, std::less<>>& cases);

}  // namespace dmlconform::run

// Comma-separated lists, as in options and environment variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dmlconform::core {

/// Splits at commas. A trailing comma adds no empty item.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view list);

}  // namespace dmlconform::core

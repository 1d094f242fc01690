// Lists with commas, as in options and environment variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dmlconform::core {

/// The parts between commas. A comma at the end is not followed by a part.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view list);

}  // namespace dmlconform::core

// JSON as a person would lay it out: what fits a line is on one line, the rest is broken up level by level.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace dmlconform::cases {

/// The text, without a line break at its end. Lists of numbers fill lines of up to 120 columns.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

}  // namespace dmlconform::cases

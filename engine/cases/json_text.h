// JSON formatted for people: a value is on one line if it fits, otherwise each of its items starts a new line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace dmlconform::cases {

/// The text without a final line break. Lists of numbers fill lines of up to 120 columns.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

}  // namespace dmlconform::cases

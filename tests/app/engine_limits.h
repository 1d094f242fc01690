// Legal cases that an engine cannot take although it has the operator, and says so.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dmlconform::tests {

/// Whether the result is of a case whose windows are 2^32 places apart: shaders count in 32 bits.
[[nodiscard]] inline bool is_beyond_shaders(const nlohmann::json& result) {
    return result.at("engine") == "d3d12" &&
           result.at("id").get<std::string>().starts_with("values/average_pooling_grad/far/42949672");
}

}  // namespace dmlconform::tests

// Legal cases that an engine reports as too large although it supports the operator.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dmlconform::tests {

/// Whether the result belongs to a case whose windows are 2^32 positions apart, which 32-bit shaders cannot compute.
[[nodiscard]] inline bool is_beyond_shaders(const nlohmann::json& result) {
    return result.at("engine") == "d3d12" &&
           result.at("id").get<std::string>().starts_with("values/average_pooling_grad/far/42949672");
}

}  // namespace dmlconform::tests

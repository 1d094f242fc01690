// Legal cases that an engine reports as too large although it supports the operator.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dmlconform::tests {

/// Whether the result belongs to a case whose windows are 2^32 positions apart, or whose padding has as many, which
/// 32-bit shaders cannot compute.
[[nodiscard]] inline bool is_beyond_shaders(const nlohmann::json& result) {
    const auto id = result.at("id").get<std::string>();
    return result.at("engine") == "d3d12" && (id.starts_with("values/average_pooling_grad/far/42949672") ||
                                              id == "values/average_pooling_grad/padding-beyond-32-bits");
}

}  // namespace dmlconform::tests

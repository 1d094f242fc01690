// Extracts vkd3d's version from its own description.
#pragma once

#include <string>
#include <string_view>

namespace dmlconform::d3d12 {

/// "2.1 (Debian 2.1+ds-1)" from "vkd3d-shader 2.1 (Debian 2.1+ds-1)".
inline std::string vkd3d_version(std::string_view text) {
    constexpr std::string_view prefix = "vkd3d-shader ";
    return std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

}  // namespace dmlconform::d3d12

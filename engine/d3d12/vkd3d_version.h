// The version of vkd3d, out of what it says of itself.
#pragma once

#include <string>
#include <string_view>

namespace dmlconform::d3d12 {

/// "2.1 (Debian 2.1+ds-1)" of "vkd3d-shader 2.1 (Debian 2.1+ds-1)".
inline std::string vkd3d_version(std::string_view told) {
    constexpr std::string_view prefix = "vkd3d-shader ";
    return std::string(told.starts_with(prefix) ? told.substr(prefix.size()) : told);
}

}  // namespace dmlconform::d3d12

// ASCII lower-case and upper-case conversion that ignores the locale. Other characters stay unchanged.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace dmlconform::core {

[[nodiscard]] constexpr char lower_case(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr char upper_case(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower_case(c); });
    return result;
}

[[nodiscard]] inline std::string upper_case(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](char c) { return upper_case(c); });
    return result;
}

}  // namespace dmlconform::core

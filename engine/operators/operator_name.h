// Names of operators, with and without DirectML's prefix.
#pragma once

#include <string_view>

namespace dmlconform::operators {

inline constexpr std::string_view operator_prefix = "DML_OPERATOR_";

/// "SLICE1" for "DML_OPERATOR_SLICE1" and for "SLICE1".
[[nodiscard]] constexpr std::string_view short_name_of(std::string_view name) {
    return name.starts_with(operator_prefix) ? name.substr(operator_prefix.size()) : name;
}

}  // namespace dmlconform::operators

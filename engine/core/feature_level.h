// DirectML feature levels (DML_FEATURE_LEVEL), ordered.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dmlconform::core {

struct FeatureLevel {
    std::uint8_t major = 0;
    std::uint8_t minor = 0;

    auto operator<=>(const FeatureLevel&) const = default;
};

/// The newest level that the catalogue knows.
inline constexpr FeatureLevel highest_feature_level{6, 4};

/// All levels, ascending.
[[nodiscard]] std::span<const FeatureLevel> feature_levels();

/// The level as text: "4.1".
[[nodiscard]] std::string to_string(FeatureLevel level);

/// Parses "4.1", "4_1" or "DML_FEATURE_LEVEL_4_1". Empty unless DirectML has that level.
[[nodiscard]] std::optional<FeatureLevel> parse_feature_level(std::string_view text);

}  // namespace dmlconform::core

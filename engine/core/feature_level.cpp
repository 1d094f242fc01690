// The list of feature levels.
#include "engine/core/feature_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dmlconform::core {
namespace {

constexpr std::array<FeatureLevel, 15> levels{{{1, 0},
                                               {2, 0},
                                               {2, 1},
                                               {3, 0},
                                               {3, 1},
                                               {4, 0},
                                               {4, 1},
                                               {5, 0},
                                               {5, 1},
                                               {5, 2},
                                               {6, 0},
                                               {6, 1},
                                               {6, 2},
                                               {6, 3},
                                               {6, 4}}};

}  // namespace

std::span<const FeatureLevel> feature_levels() {
    return levels;
}

std::string to_string(FeatureLevel level) {
    return fmt::format("{}.{}", level.major, level.minor);
}

std::optional<FeatureLevel> parse_feature_level(std::string_view text) {
    constexpr std::string_view prefix = "DML_FEATURE_LEVEL_";
    if (text.starts_with(prefix)) {
        text.remove_prefix(prefix.size());
    }
    if (text.size() != 3 || (text[1] != '.' && text[1] != '_')) {
        return std::nullopt;
    }
    const FeatureLevel level{static_cast<std::uint8_t>(text[0] - '0'), static_cast<std::uint8_t>(text[2] - '0')};
    if (std::find(levels.begin(), levels.end(), level) == levels.end()) {
        return std::nullopt;
    }
    return level;
}

}  // namespace dmlconform::core

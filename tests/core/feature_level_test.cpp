// Tests of engine/core/feature_level: DirectML's levels, their order, and the three spellings.
#include "engine/core/feature_level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace dmlconform::core::feature_level_test {
namespace {

TEST(FeatureLevel, AllOfDirectMLsLevelsAscending) {
    // DML_FEATURE_LEVEL of DirectML.h 1.15.
    const std::vector<std::string> expected{"1.0", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0",
                                            "5.1", "5.2", "6.0", "6.1", "6.2", "6.3", "6.4"};
    const auto levels = feature_levels();
    std::vector<std::string> names;
    std::transform(levels.begin(), levels.end(), std::back_inserter(names),
                   [](auto level) { return to_string(level); });
    EXPECT_EQ(names, expected);
    EXPECT_TRUE(std::is_sorted(levels.begin(), levels.end()));
    EXPECT_EQ(levels.back(), highest_feature_level);
}

TEST(FeatureLevel, Order) {
    EXPECT_LT((FeatureLevel{2, 1}), (FeatureLevel{3, 0}));
    EXPECT_LT((FeatureLevel{5, 1}), (FeatureLevel{5, 2}));
    EXPECT_GE((FeatureLevel{4, 0}), (FeatureLevel{4, 0}));
    EXPECT_GT((FeatureLevel{6, 0}), (FeatureLevel{5, 9}));
}

TEST(FeatureLevel, Parsing) {
    for (const FeatureLevel level : feature_levels()) {
        const std::string digits = std::to_string(level.major) + "_" + std::to_string(level.minor);
        EXPECT_EQ(parse_feature_level(to_string(level)), level);
        EXPECT_EQ(parse_feature_level(digits), level);
        EXPECT_EQ(parse_feature_level("DML_FEATURE_LEVEL_" + digits), level);
    }
    for (const char* text : {"", "4", "4.", ".1", "4.2", "0.0", "1.1", "6.5", "7.0", "4.10", "04.1", "4-1", "v4.1",
                             " 4.1", "4.1 ", "DML_FEATURE_LEVEL_", "DML_FEATURE_LEVEL_9_9", "dml_feature_level_4_1"}) {
        EXPECT_EQ(parse_feature_level(text), std::nullopt) << '"' << text << '"';
    }
}

}  // namespace
}  // namespace dmlconform::core::feature_level_test

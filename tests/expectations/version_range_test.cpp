// Tests of versions in texts from drivers, and of version ranges.
#include "engine/expectations/version_range.h"

#include <gtest/gtest.h>

namespace dmlconform::expectations::version_range_test {
namespace {

TEST(FindVersion, InWhatDriversSay) {
    const std::pair<const char*, std::optional<Version>> cases[] = {
        {"llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", Version{22, 3, 6}},
        {"NVIDIA 550.90.07", Version{550, 90, 7}},
        {"31.0.15.3623", Version{31, 0, 15, 3623}},
        {"radv Mesa 23.1-devel", Version{23, 1}},
        {"AMD open-source driver 2 of 2.0.1.", Version{2, 0, 1}},
        {"driver 7", std::nullopt},
        {"1.", std::nullopt},
        {"", std::nullopt},
        {"99999999999999999999.1", std::nullopt},
    };
    for (const auto& [text, version] : cases) {
        EXPECT_EQ(find_version(text), version) << text;
    }
}

TEST(VersionRange, HoldsVersions) {
    struct {
        const char* range;
        std::vector<Version> in;
        std::vector<Version> out;
    } const cases[] = {
        {">=22.3 <24.1", {{22, 3}, {22, 3, 6}, {23}, {24, 0, 9}}, {{22, 2, 9}, {24, 1}, {24, 1, 1}, {22}}},
        {">= 22.3, < 24", {{22, 3}, {23, 9}}, {{24}, {24, 0, 1}, {21}}},
        {"22.3", {{22, 3}, {22, 3, 6}}, {{22, 4}, {22}, {2, 23}}},
        {"=22", {{22}, {22, 9}}, {{23}}},
        {"<=22.3", {{22, 3, 6}, {1}}, {{22, 4}}},
        {">22.3", {{22, 4}, {23}}, {{22, 3, 6}}},
        {"1.0", {{1}, {1, 0}}, {{1, 1}}},
        {">=22.3 <=22.3", {{22, 3}, {22, 3, 6}}, {{22, 4}, {22, 2}}},
        {">22.3 <22.5", {{22, 4}, {22, 4, 9}}, {{22, 3, 9}, {22, 5}}},
        {"<0.1", {{0}, {0, 0, 9}}, {{0, 1}}},
    };
    for (const auto& [text, in, out] : cases) {
        const auto range = VersionRange::parse(text);
        ASSERT_TRUE(range) << text;
        for (const Version& version : in) {
            EXPECT_TRUE(range->contains(version)) << text << " " << testing::PrintToString(version);
        }
        for (const Version& version : out) {
            EXPECT_FALSE(range->contains(version)) << text << " " << testing::PrintToString(version);
        }
    }
}

TEST(VersionRange, WhatIsNone) {
    for (const char* text : {"", "  ", ",", "new", ">=", "22.", ".3", "22..3", "22.3x", "=>22", "22.3-24", "> >22",
                             "99999999999999999999", "-1", "+1"}) {
        EXPECT_FALSE(VersionRange::parse(text)) << text;
    }
}

TEST(VersionRange, BoundsThatNoVersionIsWithin) {
    for (const char* text : {">=1 <0", ">2 <1", ">22.3 <22.4", "<0", "=22 =23", ">22 <=22.9", "22.3 <22"}) {
        const auto range = VersionRange::parse(text);
        ASSERT_FALSE(range) << text;
        EXPECT_EQ(range.error().message, std::string("no version is \"") + text + "\"");
        EXPECT_EQ(range.error().hint, "the bounds contradict each other");
    }
}

}  // namespace
}  // namespace dmlconform::expectations::version_range_test

// Tests of engine/run/selection: globs, filters and tags.
#include "engine/run/selection.h"

#include <gtest/gtest.h>

#include "tests/run/some_cases.h"

namespace dmlconform::tests::selection_test {
namespace {

using run::glob_matches;

TEST(GlobMatches, Table) {
    struct Row {
        std::string_view pattern;
        std::string_view text;
        bool matches;
    };
    const Row rows[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"a", "a", true},
        {"a", "A", false},
        {"abc", "abc", true},
        {"abc", "abcd", false},
        {"bcd", "abcd", false},
        {"*", "", true},
        {"*", "anything/at all", true},
        {"***", "", true},
        {"**", "ab", true},
        {"?", "", false},
        {"?", "a", true},
        {"?", "ab", false},
        {"??", "ab", true},
        {"?*", "", false},
        {"?*", "a", true},
        {"*?", "a", true},
        {"*?", "", false},
        {"a*", "a", true},
        {"a*", "abc", true},
        {"a*", "ba", false},
        {"*c", "abc", true},
        {"*c", "abcd", false},
        {"*c", "c", true},
        {"a*c", "ac", true},
        {"a*c", "abbbc", true},
        {"a*c", "abcb", false},
        {"a*c", "acbc", true},
        {"*b*", "abc", true},
        {"*b*", "ac", false},
        {"*ab*ab*", "abab", true},
        {"*ab*ab*", "aba", false},
        {"*abab*", "aababb", true},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "acb", false},
        {"*a*b", "ababa", false},
        {"slice1/*", "slice1/doc/example-1", true},
        {"slice1/*", "slice1", false},
        {"*/example-?", "slice1/doc/example-1", true},
        {"*/example-?", "slice1/doc/example-12", false},
        // No other characters are special.
        {"a[T=FLOAT16,axis=1]", "a[T=FLOAT16,axis=1]", true},
        {"[a]", "a", false},
        {"a.c", "abc", false},
        {"a\\*", "a*", false},
        {"{a,b}", "a", false},
        {"(a|b)+$", "(a|b)+$", true},
        // Stars and question marks in the text match as well.
        {"*", "*", true},
        {"?", "?", true},
        {"a*", "a*b", true},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(glob_matches(row.pattern, row.text), row.matches) << row.pattern << " on " << row.text;
    }
}

TEST(GlobMatches, ManyStarsTakeNoTime) {
    std::string pattern;
    for (int i = 0; i < 1000; ++i) {
        pattern += "*a";
    }
    EXPECT_FALSE(glob_matches(pattern + "*b", std::string(10000, 'a')));
    EXPECT_TRUE(glob_matches(pattern, std::string(10000, 'a')));
}

/// The names of the selected cases, without the stem.
std::string selected(const std::vector<cases::Case>& cases, const std::vector<std::string>& filters,
                     const std::vector<std::string>& tags) {
    std::string text;
    const run::Selector selector{filters, tags};
    for (const cases::Case& entry : cases) {
        if (selector.matches(entry)) {
            text += (text.empty() ? "" : " ") + entry.id.substr(entry.id.find('/') + 1);
        }
    }
    return text;
}

TEST(Select, FiltersAreAlternativesTagsAreNot) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, illegal_slice});
    const std::string all = "with-expected without-expected illegal";
    EXPECT_EQ(selected(cases, {}, {}), all);
    EXPECT_EQ(selected(cases, {"*"}, {}), all);
    EXPECT_EQ(selected(cases, {"some/*expected"}, {}), "with-expected without-expected");
    EXPECT_EQ(selected(cases, {"illegal"}, {}), "") << "the whole id";
    EXPECT_EQ(selected(cases, {"*/illegal", "*/with-expected"}, {}), "with-expected illegal") << "in the cases' order";
    EXPECT_EQ(selected(cases, {"*", "*/illegal"}, {}), all);
    EXPECT_EQ(selected(cases, {}, {"doc"}), "with-expected");
    EXPECT_EQ(selected(cases, {}, {"doc", "smoke"}), "with-expected");
    EXPECT_EQ(selected(cases, {}, {"doc", "slow"}), "");
    EXPECT_EQ(selected(cases, {}, {"d*"}), "") << "tags are no globs";
    EXPECT_EQ(selected(cases, {"*illegal"}, {"doc"}), "") << "both have to hold";
    EXPECT_EQ(selected({}, {}, {}), "");
}

}  // namespace
}  // namespace dmlconform::tests::selection_test

// Tests of engine/report/markdown_text: escaping of text that Markdown would interpret.
#include "engine/report/markdown_text.h"

#include <gtest/gtest.h>

#include <string_view>

namespace dmlconform::report::markdown_text_test {
namespace {

TEST(MarkdownText, EveryMarkIsEscaped) {
    for (const char mark : std::string_view("\\`*_{}[]()#+!|~>@")) {
        EXPECT_EQ(markdown_text(std::string(1, mark), 100), std::string("\\") + mark);
    }
    EXPECT_EQ(markdown_text("a < b & c", 100), "a &lt; b &amp; c");
    EXPECT_EQ(markdown_text("a\nb\x1b[31m", 100), "a b \\[31m");
}

TEST(MarkdownText, IsCutBetweenCharacters) {
    EXPECT_EQ(markdown_text("abc", 3), "abc");
    EXPECT_EQ(markdown_text("abcd", 3), "abc…");
    EXPECT_EQ(markdown_text("aäb", 2), "a…");
}

}  // namespace
}  // namespace dmlconform::report::markdown_text_test

// Tests of engine/core/shown_text: text that a terminal or a CI job would obey is escaped, and the rest is unchanged.
#include "engine/core/shown_text.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace dmlconform::tests::shown_text_test {
namespace {

using core::one_line;
using core::show;
using core::show_list;
using core::without_commands;

TEST(ShownText, OneLine) {
    const std::pair<std::string, std::string> rows[] = {
        {"", ""},
        {"slice1/négatif ü 漢字 😀", "slice1/négatif ü 漢字 😀"},
        {R"(C:\cases\x "quoted")", R"(C:\cases\x "quoted")"},
        {"a\nb\r\nc\td", R"(a\nb\r\nc\td)"},
        {"\x1b[31mred\x1b[0m\x07", R"(\x1b[31mred\x1b[0m\x07)"},
        {std::string("a\0b", 3), R"(a\x00b)"},
        {"\x7f", R"(\x7f)"},
        {"\xc2\x9b"
         "2J",
         R"(\u{9b}2J)"},
        {"a\u202eb\u2066c\u200fd", R"(a\u{202e}b\u{2066}c\u{200f}d)"},
        {"zero\u200bwidth\ufeff", R"(zero\u{200b}width\u{feff})"},
        {"\u2028::error::x", R"(\u{2028}::error::x)"},
        {"\U000e0041", R"(\u{e0041})"},
        {"a\xff"
         "b\xc3",
         R"(a\xffb\xc3)"},
        {"\xed\xa0\x80", R"(\xed\xa0\x80)"},
        {"\xc0\xaf", R"(\xc0\xaf)"},
        {"##[error]x ##vso[y] a#b", R"(#\x23[error]x #\x23vso[y] a#b)"},
        {"###", R"(#\x23\x23)"},
    };
    for (const auto& [text, expected] : rows) {
        EXPECT_EQ(one_line(text), expected);
        EXPECT_EQ(one_line(expected), expected) << "what is clean stays";
    }
}

TEST(ShownText, TheFormatIsOursAndItsArgumentsAreNot) {
    const std::string evil = "a\nb";
    EXPECT_EQ(show("{}:\n  {:<6}|{:>3}|{:.1f}|{}", evil, evil, 7, 0.25, true).text(), "a\\nb:\n  a\\nb  |  7|0.2|true");
    EXPECT_EQ(show("{}", show("{}\n", evil)).text(), "a\\nb\n") << "shown text is not spelt out again";
    EXPECT_EQ((show("{}", "x\ty") + show("\n")).text(), "x\\ty\n");
    const std::vector<std::string> words{"a", "\x1b", "c"};
    EXPECT_EQ(show_list(words, ",\n").text(), "a,\n\\x1b,\nc");
    EXPECT_EQ(show_list(std::array{1, 2}, ", ").text(), "1, 2");
    EXPECT_EQ(show_list(std::vector<std::string>(), ", ").text(), "");
}

TEST(ShownText, NoLineIsACommand) {
    const std::pair<std::string, std::string> rows[] = {
        {"", ""},
        {"a::b\nc\n", "a::b\nc\n"},
        {"::error::x", R"(\x3a:error::x)"},
        {"a\n  ::warning::x\n", "a\n  \\x3a:warning::x\n"},
        {"\u00a0\u3000::x", "\u00a0\u3000\\x3a:x"},
        {":x\n\n::", ":x\n\n\\x3a:"},
    };
    for (const auto& [text, expected] : rows) {
        EXPECT_EQ(without_commands(text), expected);
    }
}

TEST(ShownText, DocumentsKeepTheirLines) {
    EXPECT_EQ(core::shown_document("## a\n| \x1b[1m |\n"), "## a\n| \\x1b[1m |\n");
}

}  // namespace
}  // namespace dmlconform::tests::shown_text_test

// Tests of engine/core/windows_words: words are quoted as Windows programs take command lines apart.
#include "engine/core/windows_words.h"

#include <gtest/gtest.h>

namespace dmlconform::core {
namespace {

TEST(WindowsWords, AreQuotedWhereItIsNeeded) {
    const struct {
        const char* word;
        const char* quoted;
    } rows[] = {
        {R"(C:\cases\a.json)", R"(C:\cases\a.json)"},
        {"--engine=cpu", "--engine=cpu"},
        {"ü", "ü"},
        {"", R"("")"},
        {"a b", R"("a b")"},
        {"1,2", R"("1,2")"},
        {"a/*", R"("a/*")"},
        {"it's", R"("it's")"},
        // A backslash is doubled in front of a quote, and nowhere else.
        {R"(C:\a b\)", R"("C:\a b\\")"},
        {R"(say "a\b")", R"("say \"a\b\"")"},
        {R"(\" \\")", R"("\\\" \\\\\"")"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(windows_quoted(row.word), row.quoted);
    }
}

}  // namespace
}  // namespace dmlconform::core

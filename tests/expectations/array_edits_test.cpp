// Tests edits of arrays in JSON with comments: the remaining text is unchanged, byte for byte.
#include "engine/expectations/array_edits.h"

#include <gtest/gtest.h>

namespace dmlconform::expectations::array_edits_test {
namespace {

std::string edited(std::string_view text, const std::vector<bool>& remove, const std::vector<std::string>& added = {}) {
    const auto document = cases::parse_json(text);
    EXPECT_TRUE(document) << text;
    ArrayEdits edits(text);
    edits.remove(*document, remove);
    edits.append(*document, remove, added);
    const std::string result = edits.text();
    EXPECT_TRUE(cases::parse_json(result)) << result;
    return result;
}

TEST(ArrayEdits, Remove) {
    struct {
        const char* before;
        std::vector<bool> remove;
        const char* after;
    } const cases[] = {
        {R"(["a", "b", "c"])", {true, false, false}, R"(["b", "c"])"},
        {R"(["a", "b", "c"])", {false, true, false}, R"(["a", "c"])"},
        {R"(["a", "b", "c"])", {false, false, true}, R"(["a", "b"])"},
        {R"(["a", "b", "c"])", {false, true, true}, R"(["a"])"},
        {R"(["a", "b", "c"])", {true, true, true}, R"([])"},
        {"[1,\n 2,\n 3\n]", {false, true, false}, "[1,\n 3\n]"},
        {"[\n  1,\n  2\n]", {false, true}, "[\n  1\n]"},
        {"[\n  1,\n  2\n]", {true, true}, "[\n]"},
        {"[\r\n  1,\r\n  2\r\n]", {true, false}, "[\r\n  2\r\n]"},
        // Comments stay at their positions.
        {"[\n  // one\n  1,  // first\n  // two\n  2\n  // end\n]",
         {true, false},
         "[\n  // one\n  // first\n  // two\n  2\n  // end\n]"},
        {"[\n  // one\n  1,\n  // two\n  2\n  // end\n]", {false, true}, "[\n  // one\n  1\n  // two\n  // end\n]"},
        {"[1 /* , */ , 2]", {false, true}, "[1 /* , */ ]"},
        // Nested arrays, with brackets and quotes in strings.
        {R"([{"a": ["]", "\"}"]}, {"b": 1 /* ] */}, 3])", {true, false, false}, R"([{"b": 1 /* ] */}, 3])"},
        {"[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": 2\n  }\n]\n", {true, false}, "[\n  {\n    \"b\": 2\n  }\n]\n"},
    };
    for (const auto& [before, remove, after] : cases) {
        EXPECT_EQ(edited(before, remove), after) << before;
    }
}

TEST(ArrayEdits, Append) {
    struct {
        const char* before;
        std::vector<bool> remove;
        std::vector<std::string> added;
        const char* after;
    } const cases[] = {
        {"[]", {}, {"1"}, "[\n  1\n]"},
        {"[\n]", {}, {"1", "2"}, "[\n  1,\n  2\n]"},
        {"  [\n  ]", {}, {"{\n  \"a\": 1\n}"}, "  [\n    {\n      \"a\": 1\n    }\n  ]"},
        {"[\n    1\n]", {false}, {"2"}, "[\n    1,\n    2\n]"},
        {"[\n    1\n]", {true}, {"2"}, "[\n    2\n]"},
        {"[\n    1,\n    3 // three\n    // end\n]",
         {false, false},
         {"2"},
         "[\n    1,\n    3, // three\n    // end\n    2\n]"},
        {"[\n    1,\n    3\n]", {false, true}, {"2"}, "[\n    1,\n    2\n]"},
        {"[\r\n  1\r\n]", {false}, {"{\n}"}, "[\r\n  1,\r\n  {\r\n  }\r\n]"},
        {"[ 1 ]", {false}, {"2"}, "[ 1, \n2\n]"},
    };
    for (const auto& [before, remove, added, after] : cases) {
        EXPECT_EQ(edited(before, remove, added), after) << before;
    }
}

TEST(ArrayEdits, NothingIsNothing) {
    const std::string text = "\n // x\n[ 1 , 2,\t3 ] /* y */ \n\n";
    EXPECT_EQ(edited(text, {false, false, false}), text);
}

}  // namespace
}  // namespace dmlconform::expectations::array_edits_test

// Tests of engine/cases/json_document: positions of values and keys, and rejected texts.
#include "engine/cases/json_document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "engine/cases/element_reader.h"
#include "tests/cases/reading.h"

namespace dmlconform::tests::json_document_test {
namespace {

using cases::JsonMember;
using cases::JsonValue;
using cases::merged;
using cases::parse_json;
using cases::pointer_to;
using cases::position_of;

/// Adds one line for each value and each key, in the order of the text: "/a/0 2:5" and "key /a 1:2".
void add_positions(const JsonValue& value, const JsonValue& document, std::string_view text,
                   std::vector<std::string>& lines) {
    const auto add = [&](std::string_view what, std::size_t offset) {
        const auto position = position_of(text, offset);
        lines.push_back(fmt::format("{}{} {}:{}", what, pointer_to(document, offset), position.line, position.column));
    };
    add("", value.offset);
    if (const auto* items = value.array()) {
        for (const JsonValue& item : *items) {
            add_positions(item, document, text, lines);
        }
    } else if (const auto* members = value.object()) {
        for (const JsonMember& member : *members) {
            add("key ", member.key_offset);
            add_positions(member.value, document, text, lines);
        }
    }
}

std::vector<std::string> positions(std::string_view text) {
    const JsonValue document = json(text);
    std::vector<std::string> lines;
    add_positions(document, document, text, lines);
    return lines;
}

struct PositionsRow {
    const char* what;
    std::string_view text;
    std::vector<std::string> positions;
};

TEST(JsonDocument, PositionsOfValuesAndKeys) {
    const PositionsRow rows[] = {
        {"a scalar", "  true", {" 1:3"}},
        {"an empty array", "[ ]", {" 1:1"}},
        {"numbers against everything", "[1,2 ,3.5e1/**/,-4]", {" 1:1", "/0 1:2", "/1 1:4", "/2 1:7", "/3 1:17"}},
        {"a number against a line comment", "[1// ]\n,2]", {" 1:1", "/0 1:2", "/1 2:2"}},
        {"a number against the end of the text", "12", {" 1:1"}},
        {"words against brackets",
         "[null,[true],{\"a\":false}]",
         {" 1:1", "/0 1:2", "/1 1:7", "/1/0 1:8", "/2 1:14", "key /2/a 1:15", "/2/a 1:19"}},
        {"no space at all",
         R"({"a":[1,{"b":2}]})",
         {" 1:1", "key /a 1:2", "/a 1:6", "/a/0 1:7", "/a/1 1:9", "key /a/1/b 1:10", "/a/1/b 1:14"}},
        {"CRLF", "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}", {" 1:1", "key /a 2:3", "/a 2:8", "key /b 3:3", "/b 3:8"}},
        {"only CR counts as a space", "[\r1]", {" 1:1", "/0 1:3"}},
        {"tabs are one byte", "\t[\t1]", {" 1:2", "/0 1:4"}},
        {"comments everywhere",
         "/* [ */{/*\"*/\"a\"/*:*/:/*,*/1/* */,//}\n\"b\":2 // ]\n}/**/",
         {" 1:8", "key /a 1:14", "/a 1:28", "key /b 2:1", "/b 2:5"}},
        {"a comment with stars and slashes", "[/***//**//*/**/1]", {" 1:1", "/0 1:17"}},
        {"strings with brackets, quotes and backslashes",
         R"(["]\"[", "\\", "//", "/*", 1])",
         {" 1:1", "/0 1:2", "/1 1:10", "/2 1:16", "/3 1:22", "/4 1:28"}},
        {"keys with quotes and colons",
         R"({"a\":\\":1,"b":2})",
         {" 1:1", "key /a\":\\ 1:2", "/a\":\\ 1:11", "key /b 1:13", "/b 1:17"}},
        {"UTF-8 counts in bytes",
         "[\"ä\",\"€\",\"\xF0\x9D\x84\x9E\",1]",
         {" 1:1", "/0 1:2", "/1 1:7", "/2 1:13", "/3 1:20"}},
        {"escapes", R"(["\u00e4\ud834\udd1e",1])", {" 1:1", "/0 1:2", "/1 1:23"}},
        {"keys escaped in pointers",
         R"({"a/b":1,"~":{"":2}})",
         {" 1:1", "key /a~1b 1:2", "/a~1b 1:8", "key /~0 1:10", "/~0 1:14", "key /~0/ 1:15", "/~0/ 1:18"}},
        {"keys of which one begins the other",
         R"({"a":{"b":1},"ab":2,"a/b":3})",
         {" 1:1", "key /a 1:2", "/a 1:6", "key /a/b 1:7", "/a/b 1:11", "key /ab 1:14", "/ab 1:19", "key /a~1b 1:21",
          "/a~1b 1:27"}},
        {"empty containers between others",
         "[[],{},[[]],0]",
         {" 1:1", "/0 1:2", "/1 1:5", "/2 1:8", "/2/0 1:9", "/3 1:13"}},
    };
    for (const PositionsRow& row : rows) {
        EXPECT_EQ(positions(row.text), row.positions) << row.what;
    }
}

TEST(JsonDocument, AByteOrderMarkIsSkipped) {
    const std::string_view text = "\xEF\xBB\xBF{\"a\": [1]}";
    const JsonValue document = json(text);
    EXPECT_EQ(document.offset, 3u);
    EXPECT_EQ(document.find("a")->offset, 9u);
    EXPECT_EQ(pointer_to(document, document.find("a")->array()->front().offset), "/a/0");
}

/// Writes random documents and records the position of each value and each key.
class RandomWriter {
public:
    explicit RandomWriter(unsigned seed) : random_(seed) {}

    void value(std::size_t depth) {
        space();
        offsets.push_back(text.size());
        const unsigned kind = pick(depth < 6 ? 9 : 7);
        static constexpr const char* scalars[] = {
            "null", "true", "-12", "0.5e-3", "18446744073709551615", R"("a\"]\\")", "\"\xE2\x82\xAC,\""};
        if (kind < 7) {
            text += scalars[kind];
        } else {
            container(kind == 7, depth);
        }
        space();
    }

    std::string text;
    std::vector<std::size_t> offsets;

private:
    unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }

    void space() {
        static constexpr const char* spaces[] = {"", "", "", " ", "\n", "\r\n", "\t", "/*[\"*/", "//,{\n", "/**/"};
        for (unsigned i = pick(3); i > 0; --i) {
            text += spaces[pick(10)];
        }
    }

    void container(bool array, std::size_t depth) {
        text += array ? '[' : '{';
        const unsigned count = pick(5);
        for (unsigned i = 0; i < count; ++i) {
            if (i != 0) {
                text += ',';
            }
            if (!array) {
                space();
                offsets.push_back(text.size());
                text += fmt::format("\"{}{}\"", pick(2) == 0 ? "\\\"" : "k", i);
                space();
                text += ':';
            }
            value(depth + 1);
        }
        space();
        text += array ? ']' : '}';
    }

    std::mt19937 random_;
};

void add_offsets(const JsonValue& value, std::vector<std::size_t>& offsets) {
    offsets.push_back(value.offset);
    if (const auto* items = value.array()) {
        for (const JsonValue& item : *items) {
            add_offsets(item, offsets);
        }
    } else if (const auto* members = value.object()) {
        for (const JsonMember& member : *members) {
            offsets.push_back(member.key_offset);
            add_offsets(member.value, offsets);
        }
    }
}

TEST(JsonDocument, OffsetsOfRandomDocuments) {
    std::size_t values = 0;
    for (unsigned seed = 0; seed < 2000; ++seed) {
        RandomWriter writer(seed);
        writer.value(0);
        std::vector<std::size_t> offsets;
        add_offsets(json(writer.text), offsets);
        ASSERT_EQ(offsets, writer.offsets) << writer.text;
        values += offsets.size();
    }
    EXPECT_GT(values, 4000u);
}

TEST(JsonDocument, Contents) {
    const JsonValue document = json(R"([null, true, -5, 18446744073709551615, 0.5, "a\u00e4\n", [], {"k": 1}, 3])");
    const auto& items = *document.array();
    EXPECT_TRUE(items[0].is_null());
    ASSERT_NE(items[1].boolean(), nullptr);
    EXPECT_TRUE(*items[1].boolean());
    EXPECT_EQ(std::get<std::int64_t>(items[2].content), -5);
    EXPECT_EQ(std::get<std::uint64_t>(items[3].content), 18446744073709551615u);
    EXPECT_EQ(std::get<double>(items[4].content), 0.5);
    ASSERT_NE(items[5].string(), nullptr);
    EXPECT_EQ(*items[5].string(), "aä\n");
    ASSERT_NE(items[7].find("k"), nullptr);
    EXPECT_EQ(items[7].find("K"), nullptr);
    EXPECT_EQ(items[6].find("k"), nullptr);
    const char* kinds[] = {"null",     "a boolean", "a number",  "a number", "a number",
                           "a string", "an array",  "an object", "a number"};
    for (std::size_t i = 0; i < items.size(); ++i) {
        EXPECT_EQ(items[i].kind_name(), kinds[i]);
        EXPECT_EQ(items[i].is_number(), std::string_view(kinds[i]) == "a number");
    }
}

TEST(JsonDocument, HugeNumbersKeepWhatADoubleHolds) {
    const JsonValue document = json("[99999999999999999999, -9223372036854775808, 1e-400, 1.7976931348623157e308, -0]");
    const auto& items = *document.array();
    EXPECT_EQ(std::get<double>(items[0].content), 1e20);
    EXPECT_EQ(std::get<std::int64_t>(items[1].content), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(items[2].floating(), 0.0);
    EXPECT_EQ(std::get<double>(items[3].content), std::numeric_limits<double>::max());
    // An integer cannot be -0, but an element can, so it is read as a double.
    ASSERT_TRUE(std::holds_alternative<double>(items[4].content));
    EXPECT_TRUE(std::signbit(std::get<double>(items[4].content)));
}

struct ErrorRow {
    const char* what;
    std::string text;
    std::size_t line;
    std::size_t column;
    std::string_view message;
};

TEST(JsonDocument, Refused) {
    using namespace std::string_literals;
    const ErrorRow rows[] = {
        {"nothing", "", 1, 1, "not valid JSON"},
        {"only spaces", " \n ", 2, 2, "not valid JSON"},
        {"only a comment", "// nothing", 1, 11, "not valid JSON"},
        {"truncated in an object", "{\n\"a\": 1", 2, 7, "not valid JSON"},
        {"truncated in a string", "[\"abc", 1, 6, "not valid JSON"},
        {"truncated in a word", "[tru", 1, 5, "not valid JSON"},
        {"truncated after a minus", "[-", 1, 3, "not valid JSON"},
        {"a comment that does not end", "[1 /* ]", 1, 8, "not valid JSON"},
        {"a trailing comma", "[1,\n]", 2, 1, "not valid JSON"},
        {"trailing text", "{}\n{}", 2, 1, "not valid JSON"},
        {"trailing comma after the document", "{},", 1, 3, "not valid JSON"},
        {"single quotes", "{'a': 1}", 1, 2, "not valid JSON"},
        {"no quotes", "{a: 1}", 1, 2, "not valid JSON"},
        {"no colon", "{\"a\" 1}", 1, 6, "not valid JSON"},
        {"NaN", "[NaN]", 1, 2, "not valid JSON"},
        {"a plus sign", "[+1]", 1, 2, "not valid JSON"},
        {"a leading zero", "[01]", 1, 3, "not valid JSON"},
        {"a hexadecimal number", "[0x10]", 1, 3, "not valid JSON"},
        {"a line break in a string", "[\"a\nb\"]", 1, 4, "not valid JSON"},
        {"an unknown escape", R"(["\x41"])", 1, 4, "not valid JSON"},
        {"half a surrogate pair", R"(["\ud834"])", 1, 9, "not valid JSON"},
        {"Latin-1", "[\"\xE4\"]", 1, 3, "not valid JSON"},
        {"Latin-1 in a comment", "[ // gr\xFC\xDF\n1]", 1, 8, "a byte that is not UTF-8"},
        {"Latin-1 in another comment", "[\n/* gr\xFC\xDF */ 1]", 2, 6, "a byte that is not UTF-8"},
        {"an overlong encoding", "[\"\xC0\x80\"]", 1, 3, "not valid JSON"},
        {"UTF-16", "\xFF\xFE{\0}\0"s, 1, 4, "a NUL byte"},
        {"half a byte order mark", "\xEF\xBB{}", 1, 1, "not valid JSON"},
        {"a NUL byte", "[1,\0]"s, 1, 4, "not valid JSON"},
        {"a NUL byte after the document", "{}\0"s, 1, 3, "not valid JSON"},
        {"a NUL byte in a string", "[\"a\0b\"]"s, 1, 4, "not valid JSON"},
        {"a number beyond doubles", "[1e400]", 1, 2, "1e400"},
        {"a negative one", "{\"a\":\n -1e999 }", 2, 2, "-1e999"},
        {"a key that occurs twice", "{\"a\": 1,\n \"b\": 2, \"a\": 3}", 2, 10, "the key \"a\" occurs twice"},
        {"a key twice in different spelling", R"({"a": 1, "\u0061": 3})", 1, 10, "the key \"a\" occurs twice"},
        {"a key twice further down", "[{\"a\": {\"b\": 1, \"b\": 2}}]", 1, 17, "the key \"b\" occurs twice"},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(row.what);
        const auto parsed = parse_json(row.text);
        EXPECT_FALSE(parsed.has_value());
        if (parsed) {
            continue;
        }
        const auto position = position_of(row.text, parsed.error().offset);
        EXPECT_EQ(position.line, row.line) << parsed.error().error.message;
        EXPECT_EQ(position.column, row.column) << parsed.error().error.message;
        EXPECT_TRUE(contains(parsed.error().error.message, row.message));
        // The message contains the position once, in our format and not in nlohmann's.
        EXPECT_EQ(parsed.error().error.message.find("json.exception"), std::string::npos)
            << parsed.error().error.message;
        EXPECT_EQ(parsed.error().error.message.find("at line"), std::string::npos) << parsed.error().error.message;
    }
}

/// Whether a number is an integer depends on its exact decimal value, not on its value as a double.
TEST(JsonDocument, NumbersThatBecomeIntegersAreNone) {
    for (const char* text :
         {"2.0", "20e-1", "0.02E+2", "-2.000", "0.0", "0e-400", "-0.0e5", "123456789e3", "1.5e1", "1e22",
          "0.000000000000000000000000000002e30", "2000000000000000000000e-21", "0e99999999999999999999"}) {
        EXPECT_TRUE(std::holds_alternative<double>(json(text).content)) << text;
    }
    for (const char* text :
         {"4e-400", "-4e-400", "2.00000000000000000001", "1.9999999999999999999", "9007199254740993.5",
          "1e-99999999999999999999", "20000000000000000000001e-22", "0.00000000000000000000000000000000000001e-300"}) {
        const JsonValue value = json(text);
        EXPECT_TRUE(std::holds_alternative<cases::RoundedNumber>(value.content)) << text;
        EXPECT_TRUE(value.is_number());
        EXPECT_EQ(value.floating(), std::strtod(text, nullptr));
        EXPECT_EQ(cases::integer_of(value), std::nullopt) << text;
    }
    EXPECT_TRUE(std::holds_alternative<double>(json("0.5").content));
}

std::string object_with_keys(std::size_t count, std::string_view name) {
    std::string text = "{";
    for (std::size_t i = 0; i < count; ++i) {
        text += fmt::format("{}\"{}{}\":{}", i == 0 ? "" : ",", name, i, i);
    }
    return text + "}";
}

/// An algorithm with quadratic time would never finish a million keys.
TEST(JsonDocument, AMillionKeysTakeNoLonger) {
    constexpr std::size_t count = 1'000'000;
    const JsonValue base = json(object_with_keys(count, "a"));
    const JsonValue overlay = json(object_with_keys(count, "b"));
    EXPECT_EQ(merged(base, overlay).object()->size(), 2 * count);
    EXPECT_EQ(merged(base, base).object()->size(), count);
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
        for (int times = 0; times < 30; ++times) {
            EXPECT_EQ(pointer_to(base, (*base.object())[i].value.offset), fmt::format("/a{}", i));
        }
    }
}

TEST(JsonDocument, LongTextsAreNotQuotedWhole) {
    const std::string long_key(10'000, 'k');
    const auto twice = parse_json(fmt::format(R"({{"{}": 1, "{}": 2}})", long_key, long_key));
    ASSERT_FALSE(twice.has_value());
    EXPECT_EQ(twice.error().error.message,
              fmt::format("the key \"{}…\" occurs twice in one object", long_key.substr(0, 200)));
    const auto wrong = parse_json(fmt::format("[\"{}", long_key));
    ASSERT_FALSE(wrong.has_value());
    EXPECT_LT(wrong.error().error.message.size(), 450u);
}

TEST(JsonDocument, TheSameKeyInDifferentObjectsIsFine) {
    EXPECT_TRUE(parse_json(R"([{"a": {"a": 1}}, {"a": 2}])").has_value());
}

std::string nested(std::size_t levels, std::string_view open, std::string_view close) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i) {
        text += open;
    }
    text += "1";
    for (std::size_t i = 0; i < levels; ++i) {
        text += close;
    }
    return text;
}

TEST(JsonDocument, NestingHasALimit) {
    for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
        EXPECT_TRUE(parse_json(nested(64, open, close)).has_value()) << open;
        const auto parsed = parse_json(nested(65, open, close));
        ASSERT_FALSE(parsed.has_value()) << open;
        EXPECT_TRUE(contains(parsed.error().error.message, "64"));
        EXPECT_EQ(parsed.error().offset, 64 * std::string_view(open).size());
    }
}

TEST(JsonDocument, AMillionBracketsAreHarmless) {
    for (const std::string_view open : {"[", "{\"a\":", "[{\"a\":"}) {
        std::string text;
        while (text.size() < 1'000'000) {
            text += open;
        }
        EXPECT_FALSE(parse_json(text).has_value());
    }
    EXPECT_FALSE(parse_json(std::string(1'000'000, ']')).has_value());
}

TEST(JsonDocument, WideDocuments) {
    std::string text = "[0";
    for (int i = 1; i < 200'000; ++i) {
        text += fmt::format(",{}", i);
    }
    text += "]";
    const JsonValue document = json(text);
    ASSERT_EQ(document.array()->size(), 200'000u);
    EXPECT_EQ(pointer_to(document, document.array()->back().offset), "/199999");
}

TEST(JsonDocument, PointersBetweenValuesAreThoseOfNothing) {
    const JsonValue document = json(R"({"a": [10, 20]})");
    EXPECT_EQ(pointer_to(document, 0), "");
    EXPECT_EQ(pointer_to(document, 8), "");  // an offset inside a number
    EXPECT_EQ(pointer_to(document, 1000), "");
}

TEST(JsonDocument, PositionsOfOffsets) {
    struct Row {
        std::string_view text;
        std::size_t offset;
        std::size_t line;
        std::size_t column;
    };
    const Row rows[] = {
        {"", 0, 1, 1},     {"ab", 1, 1, 2},   {"ab", 2, 1, 3},     {"ab", 99, 1, 3},
        {"a\nb", 1, 1, 2}, {"a\nb", 2, 2, 1}, {"\n\n\n", 3, 4, 1}, {"a\r\nb", 3, 2, 1},
    };
    for (const Row& row : rows) {
        const auto position = position_of(row.text, row.offset);
        EXPECT_EQ(position.line, row.line) << row.text << row.offset;
        EXPECT_EQ(position.column, row.column) << row.text << row.offset;
    }
}

/// The document as compact JSON, with members in their order, which merging must preserve.
std::string compact(const JsonValue& value) {
    std::string text;
    if (const auto* items = value.array()) {
        for (const JsonValue& item : *items) {
            text += (text.empty() ? "" : ",") + compact(item);
        }
        return "[" + text + "]";
    }
    if (const auto* members = value.object()) {
        for (const JsonMember& member : *members) {
            text += (text.empty() ? "" : ",") + member.key + ":" + compact(member.value);
        }
        return "{" + text + "}";
    }
    return value.is_null() ? "null" : fmt::format("{}", std::get<std::uint64_t>(value.content));
}

TEST(JsonDocument, Merging) {
    struct Row {
        std::string_view base;
        std::string_view overlay;
        std::string_view result;
    };
    const Row rows[] = {
        {"{}", "{}", "{}"},
        {R"({"a":1})", "{}", "{a:1}"},
        {"{}", R"({"a":1})", "{a:1}"},
        {R"({"a":1,"b":2})", R"({"b":3,"c":4})", "{a:1,b:3,c:4}"},
        {R"({"a":{"x":1,"y":2}})", R"({"a":{"y":3}})", "{a:{x:1,y:3}}"},
        {R"({"a":{"b":{"c":1,"d":2}}})", R"({"a":{"b":{"c":3}}})", "{a:{b:{c:3,d:2}}}"},
        {R"({"a":[1,2,3]})", R"({"a":[4]})", "{a:[4]}"},
        {R"({"a":{"x":1}})", R"({"a":5})", "{a:5}"},
        {R"({"a":5})", R"({"a":{"x":1}})", "{a:{x:1}}"},
        {R"({"a":{"x":1}})", R"({"a":null})", "{a:null}"},
        {R"({"a":1})", "7", "7"},
        {"7", R"({"a":1})", "{a:1}"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(compact(merged(json(row.base), json(row.overlay))), row.result) << row.base << " <- " << row.overlay;
    }
}

TEST(JsonDocument, AnUnsharedCopyIsEqualAndApart) {
    const std::string text = R"({"text": "a", "list": [1, ["b", {"deep": 2}]], "none": null})";
    const JsonValue value = json(text);
    const JsonValue copy = cases::unshared(value);
    std::vector<std::string> lines;
    std::vector<std::string> of_copy;
    add_positions(value, value, text, lines);
    add_positions(copy, copy, text, of_copy);
    EXPECT_EQ(of_copy, lines);
    EXPECT_TRUE(copy.find("none")->is_null());
    const auto expect_apart = [](const auto* original, const auto* copied) {
        ASSERT_TRUE(original != nullptr && copied != nullptr);
        EXPECT_NE(original, copied);
    };
    expect_apart(value.object(), copy.object());
    expect_apart(value.find("text")->string(), copy.find("text")->string());
    EXPECT_EQ(*copy.find("text")->string(), "a");
    const JsonValue::Array& list = *value.find("list")->array();
    const JsonValue::Array& of_list = *copy.find("list")->array();
    expect_apart(&list, &of_list);
    EXPECT_EQ(compact(of_list[0]), "1");
    expect_apart(list[1].array()->at(0).string(), of_list[1].array()->at(0).string());
    expect_apart(list[1].array()->at(1).object(), of_list[1].array()->at(1).object());
    EXPECT_EQ(compact(of_list[1].array()->at(1)), "{deep:2}");
    // Long lists of numbers are not worth a copy.
    const JsonValue numbers = json(fmt::format("[{}]", fmt::join(std::vector<int>(1000, 1), ",")));
    EXPECT_EQ(cases::unshared(numbers).array(), numbers.array());
}

TEST(JsonDocument, MergingKeepsPositions) {
    const JsonValue document = json(R"({"base": {"a": 1, "o": {"x": 1, "y": 2}}, "over": {"o": {"y": 3}, "b": 4}})");
    const JsonValue both = merged(*document.find("base"), *document.find("over"));
    EXPECT_EQ(pointer_to(document, both.offset), "/over");
    EXPECT_EQ(pointer_to(document, both.find("a")->offset), "/base/a");
    EXPECT_EQ(pointer_to(document, both.find("b")->offset), "/over/b");
    EXPECT_EQ(pointer_to(document, both.find("o")->offset), "/over/o");
    EXPECT_EQ(pointer_to(document, both.find("o")->find("x")->offset), "/base/o/x");
    EXPECT_EQ(pointer_to(document, both.find("o")->find("y")->offset), "/over/o/y");
    for (const JsonMember& member : *both.object()) {
        EXPECT_EQ(pointer_to(document, member.key_offset), pointer_to(document, member.value.offset));
    }
    // Merging does not change its operands.
    EXPECT_EQ(compact(*document.find("base")), "{a:1,o:{x:1,y:2}}");
}

}  // namespace
}  // namespace dmlconform::tests::json_document_test

// Tests of engine/cases/json_list: reads the elements of a list one at a time, whatever JSON surrounds the list, and
// enforces limits.
#include "engine/cases/json_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "tests/cases/reading.h"

namespace dmlconform::tests::json_list_test {
namespace {

using Json = nlohmann::ordered_json;

struct ListReading {
    core::Result<Json> rest;
    std::vector<std::string> elements;
};

ListReading read(const std::string& text) {
    ListReading reading;
    std::istringstream stream(text);
    reading.rest =
        cases::read_json_list("r.json", stream, "list", [&](Json& element, std::size_t index) -> core::Result<void> {
            EXPECT_EQ(index, reading.elements.size());
            reading.elements.push_back(element.dump());
            return {};
        });
    return reading;
}

TEST(JsonList, ElementsAndTheRest) {
    struct Row {
        const char* text;
        std::vector<std::string> elements;
        const char* rest;
    };
    const Row rows[] = {
        {R"({"a": 1, "list": [{"x": [1, {"y": "z"}]}, 2, [], {}, null, -0.5, "t"], "b": {"list": [3]}})",
         {R"({"x":[1,{"y":"z"}]})", "2", "[]", "{}", "null", "-0.5", "\"t\""},
         R"({"a":1,"list":[],"b":{"list":[3]}})"},
        {R"({"list": []})", {}, R"({"list":[]})"},
        {R"({"list": {"list": [1]}})", {}, R"({"list":{"list":[1]}})"},
        {R"({"list": 7})", {}, R"({"list":7})"},
        {R"([{"list": [1]}])", {}, R"([{"list":[1]}])"},
        {"[]", {}, "[]"},
        {"5", {}, "5"},
        {R"({"a": [[1, [2]], true]})", {}, R"({"a":[[1,[2]],true]})"},
    };
    for (const Row& row : rows) {
        const ListReading reading = read(row.text);
        ASSERT_TRUE(reading.rest) << row.text << reading.rest.error().message;
        EXPECT_EQ(reading.rest->dump(), row.rest);
        EXPECT_EQ(reading.elements, row.elements);
    }
}

TEST(JsonList, Refused) {
    const std::string deep_element(100, '[');
    const std::string text_of_a_mebibyte = fmt::format("\"{}\"", std::string(1 << 20, 'x'));
    std::string many = text_of_a_mebibyte;
    for (int i = 0; i < 70; ++i) {
        many += "," + text_of_a_mebibyte;
    }
    const std::pair<std::string, const char*> rows[] = {
        {"", "r.json: this is not JSON, or not all of it: "},
        {R"({"list": [1, 2)", "r.json: this is not JSON, or not all of it: "},
        {R"({"list": []} x)", "r.json: this is not JSON, or not all of it: "},
        {"{\"list\": [\"\xFC\"]}", "r.json: this is not JSON, or not all of it: "},
        {R"({"list": [{"a": 1}, {"a": 1, "b": {}, "a": 2}]})",
         "r.json: /list/1: the key \"a\" occurs twice in one object"},
        {R"({"list": [], "list": []})", "r.json: the key \"list\" occurs twice in one object"},
        {R"({"a": {"b": 1, "b": 1}})", "r.json: the key \"b\" occurs twice in one object"},
        {R"({"list": [1, )" + deep_element, "r.json: /list/1: more than 64 levels of nesting"},
        {deep_element, "r.json: more than 64 levels of nesting"},
        {R"({"list": [[)" + many + "]]}", "r.json: /list/0: it takes more than 67108864 bytes"},
        {R"({"a": [)" + many + "]}", "r.json: what is beside \"list\" takes more than 67108864 bytes"},
        {R"({"list": [)" + std::string(10'000, 'x'), "r.json: this is not JSON"},
    };
    for (const auto& [text, message] : rows) {
        const ListReading reading = read(text);
        ASSERT_FALSE(reading.rest) << text.substr(0, 100);
        EXPECT_TRUE(reading.rest.error().message.starts_with(message)) << reading.rest.error().message;
        EXPECT_LT(reading.rest.error().message.size(), 500u);
    }
    EXPECT_TRUE(read(R"({"list": [)" + many + "]}").rest) << "each of them is small";
}

/// The limit counts the memory that values and keys take, which exceeds their length in the file.
TEST(JsonList, SmallValuesAreNotFree) {
    std::string numbers = "0";
    for (int i = 0; i < 5'000'000; ++i) {
        numbers += ",0";
    }
    const ListReading reading = read(R"({"list": [[)" + numbers + "]]}");
    ASSERT_FALSE(reading.rest);
    EXPECT_TRUE(contains(reading.rest.error().message, "it takes more than"));
}

TEST(JsonList, AMillionKeysTakeNoLonger) {
    std::string keys;
    for (int i = 0; i < 500'000; ++i) {
        keys += fmt::format("{}\"k{}\":0", i == 0 ? "" : ",", i);
    }
    EXPECT_TRUE(read(R"({"list": [{)" + keys + "}]}").rest);
    EXPECT_TRUE(read("{" + keys + "}").rest);
}

TEST(JsonList, AVisitorEndsTheReading) {
    std::istringstream stream(R"({"list": [1, 2, 3], "list": 4})");
    std::size_t seen = 0;
    const auto rest =
        cases::read_json_list("r.json", stream, "list", [&](const Json&, std::size_t) -> core::Result<void> {
            return ++seen == 2 ? core::Result<void>(core::fail("enough")) : core::Result<void>();
        });
    ASSERT_FALSE(rest);
    EXPECT_EQ(rest.error().message, "enough");
    EXPECT_EQ(seen, 2u);
}

}  // namespace
}  // namespace dmlconform::tests::json_list_test

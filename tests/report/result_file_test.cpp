// Tests of engine/report/result_file: results that are read back, and files that are not results.
#include "engine/report/result_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/temporary_folder.h"

namespace dmlconform::report::result_file_test {
namespace {

using Json = nlohmann::ordered_json;

Json good_result() {
    return {
        {"id", "a/b"},
        {"operator", "DML_OPERATOR_SLICE1"},
        {"file", "a.json"},
        {"line", 3},
        {"engine", "cpu"},
        {"status", "pass"},
        {"gated", true},
        {"descriptor", Json::array()},
        {"outputs", Json::array({{{"name", "O"}, {"tolerance", "exact"}, {"elements", 4}, {"beyondTolerance", 0}}})},
        {"timing", {{"totalNanoseconds", 5}, {"executeNanoseconds", 3}}}};
}

Json good_file() {
    return {{"format", "dmlconform-result"},
            {"formatVersion", 1},
            {"started", "2026-11-21T13:00:00Z"},
            {"engines", Json::array({{{"name", "cpu"}, {"adapter", "A"}, {"driver", ""}}})},
            {"results", Json::array({good_result(), good_result()})},
            {"exitCode", 0}};
}

struct Reading {
    core::Result<ResultHeader> header;
    std::size_t results = 0;
    Json rest;
};

Reading read(const std::string& text) {
    const tests::TemporaryFolder folder;
    Reading reading;
    const auto count = [&](Json&) {
        ++reading.results;
        return core::Result<void>();
    };
    reading.header = read_result_file(folder.write("r.json", text), count, &reading.rest);
    return reading;
}

TEST(ResultFile, EachResultIsHandedOver) {
    const Reading reading = read(good_file().dump());
    ASSERT_TRUE(reading.header) << reading.header.error().message;
    EXPECT_EQ(reading.results, 2u);
    ASSERT_EQ(reading.header->engines.size(), 1u);
    EXPECT_EQ(reading.header->engines[0].adapter, "A");
    EXPECT_EQ(reading.header->started, "2026-11-21T13:00:00Z");
    EXPECT_TRUE(reading.rest["results"].empty());
    EXPECT_EQ(reading.rest["exitCode"], 0);
}

TEST(ResultFile, BadOnes) {
    struct Row {
        const char* pointer;
        Json value;  // "discarded" removes the member
        const char* message;
    };
    const Json gone(Json::value_t::discarded);
    const Row rows[] = {
        {"/format", "other", "this is not a result of dmlconform"},
        {"/formatVersion", 2, "/formatVersion: only version 1 is known here"},
        {"/started", gone, "/started: it must be a text, and is missing"},
        {"/engines", 3, "/engines: it must be a list"},
        {"/engines/0/name", "d3d12", "there are results of an engine \"cpu\", which is not among /engines"},
        {"/engines/0/driver", gone, "/engines/0/driver: it must be a text"},
        {"/results", gone, "/results: it must be a list, and is missing"},
        {"/results/1", 3, "/results/1: this is not an object"},
        {"/results/1/status", "passed", "/results/1/status: there is no status \"passed\""},
        {"/results/1/gated", "yes", "/results/1/gated: it must be true or false"},
        {"/results/1/timing/executeNanoseconds", -3, "/results/1/timing/executeNanoseconds: it must be a whole number"},
        {"/results/1/timing", "soon", "/results/1/timing: this is not an object"},
        {"/results/1/outputs/0/elements", -1, "/results/1/outputs/0/elements: it must be a whole number"},
        {"/results/1/difference", 3, "/results/1/difference: it must be a text"},
        {"/results/1/hint", nullptr, "/results/1/hint: it must be a text"},
        {"/results/1/actualStatus", true, "/results/1/actualStatus: it must be a text"},
        {"/results/1/tags", "t", "/results/1/tags: it must be a list"},
        {"/results/1/uncompared", 1, "/results/1/uncompared: it must be a list"},
        {"/results/1/repetition", "1", "/results/1/repetition: it must be a whole number"},
        {"/results/1/attempts", -2, "/results/1/attempts: it must be a whole number"},
        {"/engines/0/reference", "yes", "/engines/0/reference: it must be true or false"},
    };
    for (const Row& row : rows) {
        Json file = good_file();
        const Json::json_pointer pointer(row.pointer);
        if (row.value.is_discarded()) {
            file.at(pointer.parent_pointer()).erase(pointer.back());
        } else {
            file[pointer] = row.value;
        }
        const Reading reading = read(file.dump());
        ASSERT_FALSE(reading.header) << row.pointer;
        EXPECT_NE(reading.header.error().message.find(row.message), std::string::npos)
            << reading.header.error().message;
        EXPECT_NE(reading.header.error().message.find("r.json"), std::string::npos) << "the file is named";
    }
}

TEST(ResultFile, MembersTwiceAndNestingAreRefused) {
    const std::string text = good_file().dump();
    const auto with = [&](const std::string& after, const std::string& more) {
        std::string changed = text;
        changed.insert(changed.find(after) + after.size(), more);
        return read(changed);
    };
    const auto message = [](const Reading& reading) {
        return reading.header ? std::string("it was read") : reading.header.error().message;
    };
    EXPECT_NE(
        message(with(R"("status":"pass")", R"(,"status":"fail")")).find("/results/0: the key \"status\" occurs twice"),
        std::string::npos);
    EXPECT_NE(message(with(R"("exitCode":0)", R"(,"exitCode":1)")).find("the key \"exitCode\" occurs twice"),
              std::string::npos);
    EXPECT_NE(message(with(R"("outputs":[)", std::string(1'000'000, '['))).find("more than 64 levels"),
              std::string::npos);
    EXPECT_NE(message(with(R"("exitCode":0)", R"(,"junk":)" + std::string(1'000'000, '['))).find("more than 64 levels"),
              std::string::npos);
}

TEST(ResultFile, CutOffAnywhere) {
    const std::string text = good_file().dump();
    for (std::size_t length = 0; length < text.size(); length += 5) {
        const Reading reading = read(text.substr(0, length));
        ASSERT_FALSE(reading.header) << length;
        EXPECT_NE(reading.header.error().message.find("this is not JSON, or not all of it"), std::string::npos);
    }
}

TEST(ResultFile, WhatCannotBeRead) {
    const tests::TemporaryFolder folder;
    const auto ignore = [](Json&) { return core::Result<void>(); };
    for (const std::string& path : {folder.at("none.json"), folder.at("")}) {
        EXPECT_FALSE(read_result_file(path, ignore)) << path;
        EXPECT_FALSE(is_result_file(path)) << path;
    }
    EXPECT_TRUE(is_result_file(folder.write("r.json", good_file().dump())));
    EXPECT_FALSE(is_result_file(folder.write("b.json", R"({"benchmarks": []})")));
}

TEST(ResultFile, AVisitorCanEndTheReading) {
    const tests::TemporaryFolder folder;
    std::size_t seen = 0;
    const auto stop = [&](Json&) -> core::Result<void> {
        ++seen;
        return core::fail("enough");
    };
    const auto header = read_result_file(folder.write("r.json", good_file().dump()), stop);
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().message, "enough");
    EXPECT_EQ(seen, 1u);
}

}  // namespace
}  // namespace dmlconform::report::result_file_test

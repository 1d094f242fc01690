// Tests of engine/worker/server: requests of all kinds, including some that our client never sends.
#include "engine/worker/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/operators/descriptor_json.h"
#include "engine/operators/graph_json.h"
#include "engine/worker/cbor.h"
#include "engine/worker/frame.h"
#include "engine/worker/messages.h"
#include "tests/graph_builder.h"
#include "tests/run/fake_engine.h"

namespace dmlconform::tests::server_test {
namespace {

using nlohmann::json;
using worker::serve;

struct Conversation {
    core::Result<void> outcome;
    std::vector<json> answers;
};

/// Serves the bytes, and splits the answers.
Conversation converse(const core::Result<std::unique_ptr<Engine>>& engine, const std::vector<std::uint8_t>& input) {
    std::span<const std::byte> rest = std::as_bytes(std::span(input));
    std::vector<std::byte> output;
    Conversation conversation;
    conversation.outcome = serve(
        engine,
        [&](std::span<std::byte> to) {
            const std::size_t count = std::min(to.size(), rest.size());
            std::copy_n(rest.begin(), count, to.begin());
            rest = rest.subspan(count);
            return count == to.size();
        },
        [&](std::span<const std::byte> bytes) {
            output.insert(output.end(), bytes.begin(), bytes.end());
            return true;
        });
    for (std::span<const std::byte> left = output; !left.empty();) {
        const auto size = worker::message_size(left.first<worker::frame_header_size>()).value();
        conversation.answers.push_back(worker::decode_cbor(left.subspan(worker::frame_header_size, size)).value());
        left = left.subspan(worker::frame_header_size + size);
    }
    return conversation;
}

/// Serves requests, which are numbered from 1.
std::vector<json> answers_to(const core::Result<std::unique_ptr<Engine>>& engine,
                             std::initializer_list<json> requests) {
    std::vector<std::uint8_t> input;
    int id = 0;
    for (json request : requests) {
        request["id"] = ++id;
        EXPECT_TRUE(worker::append_frame(request, input).has_value());
    }
    Conversation conversation = converse(engine, input);
    EXPECT_TRUE(conversation.outcome.has_value());
    EXPECT_EQ(conversation.answers.size(), requests.size());
    for (std::size_t i = 0; i < conversation.answers.size(); ++i) {
        EXPECT_EQ(conversation.answers[i]["id"], i + 1);
    }
    return conversation.answers;
}

core::Result<std::unique_ptr<Engine>> fake(Behaviour behaviour = {}) {
    return std::make_unique<FakeEngine>(std::move(behaviour));
}

json compile() {
    json request =
        operators::descriptor_to_json(describe("SLICE1", {{"InputTensor", tensor(core::DataType::uint8, {4})},
                                                          {"OutputTensor", tensor(core::DataType::uint8, {2})},
                                                          {"InputWindowOffsets", {0}},
                                                          {"InputWindowSizes", {4}},
                                                          {"InputWindowStrides", {2}}}));
    request["request"] = "compile";
    return request;
}

json ask_info(int protocol) {
    return {{"request", "info"}, {"protocol", protocol}};
}

json ask(const char* request, std::uint64_t executable) {
    return {{"request", request}, {"executable", executable}};
}

json bind_to(json inputs, std::uint64_t executable = 1) {
    json request = ask("bind", executable);
    request["inputs"] = std::move(inputs);
    return request;
}

const json four_bytes = json::array({json::binary({1, 2, 3, 4})});

std::string error_of(const json& answer) {
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : "";
}

TEST(Server, ACase) {
    Behaviour behaviour;
    behaviour.device_time = std::chrono::nanoseconds(17);
    const auto answers = answers_to(fake(behaviour), {ask_info(1), compile(), bind_to(four_bytes, 2), ask("execute", 2),
                                                      ask("read", 2), ask("release", 2), ask("read", 2)});
    EXPECT_EQ(answers[0]["protocol"], 1);
    const auto info = worker::info_from_json(answers[0]);
    ASSERT_TRUE(info.has_value()) << info.error().message;
    EXPECT_EQ(info->name, "fake");
    EXPECT_EQ(info->adapter, "made up");
    EXPECT_EQ(info->feature_level, core::highest_feature_level);
    EXPECT_EQ(answers[1], json({{"id", 2}, {"accepted", true}}));
    EXPECT_EQ(answers[2], json({{"id", 3}}));
    EXPECT_EQ(answers[3]["deviceNanoseconds"], 17);
    EXPECT_GT(answers[3]["nanoseconds"], 0);
    ASSERT_EQ(answers[4]["outputs"].size(), 1u);
    const auto& bytes = answers[4]["outputs"][0].get_binary();
    ASSERT_EQ(bytes.size(), 4u + core::guard_bytes);
    EXPECT_EQ(bytes[0], 1);
    EXPECT_EQ(bytes[1], 3);
    EXPECT_TRUE(std::all_of(bytes.begin() + 4, bytes.end(), [](std::uint8_t byte) { return byte == 0xcd; }));
    EXPECT_EQ(answers[5], json({{"id", 6}}));
    EXPECT_NE(error_of(answers[6]).find("no such executable"), std::string::npos);
}

json compile_graph() {
    const auto desc = tensor(core::DataType::float32, {1});
    const auto graph = plain_graph(
        {unary("a", "ACTIVATION_RELU", desc, "x", "t"), unary("b", "ELEMENT_WISE_NEGATE", desc, "t", "y")}, {"t", "y"});
    return {{"request", "compileGraph"}, {"graph", operators::graph_to_json(graph)}};
}

TEST(Server, AGraph) {
    const json two = json::array({json::binary({0, 0, 0, 0x40})});
    const auto answers = answers_to(
        fake(), {ask_info(1), compile_graph(), bind_to(two, 2), ask("execute", 2), ask("read", 2), bind_to({}, 2)});
    EXPECT_EQ(answers[0]["graphs"], 1);
    EXPECT_TRUE(worker::takes_graphs(answers[0]));
    EXPECT_EQ(answers[1], json({{"id", 2}, {"accepted", true}}));
    EXPECT_EQ(answers[3]["nodeNanoseconds"].size(), 2u);
    ASSERT_EQ(answers[4]["outputs"].size(), 2u);
    EXPECT_EQ(answers[4]["outputs"][0].get_binary()[3], 0x40);
    EXPECT_EQ(answers[4]["outputs"][1].get_binary()[3], 0xc0);
    EXPECT_NE(error_of(answers[5]).find("one entry for each of 1 inputs"), std::string::npos);
}

TEST(Server, GraphsThatAreNotCompiled) {
    EXPECT_NE(error_of(answers_to(fake(), {{{"request", "compileGraph"}}})[0]).find("no array"), std::string::npos);
    json loose = compile_graph();
    loose["graph"]["nodes"][1]["inputs"][0] = "elsewhere";
    EXPECT_NE(error_of(answers_to(fake(), {loose})[0]).find("node `b` is no value"), std::string::npos);
    Behaviour unsupported;
    unsupported.unsupported = "not today";
    EXPECT_EQ(answers_to(fake(unsupported), {compile_graph()})[0]["unsupported"], "node `a`: not today");
    json unused = compile_graph();
    unused["graph"]["outputs"] = {"t"};
    EXPECT_EQ(answers_to(fake(), {unused})[0]["rejected"]["rule"], "graph.unusedNode");
}

TEST(Server, WhatIsNotCompiled) {
    Behaviour unsupported;
    unsupported.unsupported = "not today";
    EXPECT_EQ(answers_to(fake(unsupported), {compile()})[0]["unsupported"], "not today");
    Behaviour rejecting;
    rejecting.compile_failure = rejected(core::HResult::invalid_argument, "bad window");
    rejecting.compile_failure->rejection.legal_from = core::FeatureLevel{5, 0};
    const json rejection = answers_to(fake(rejecting), {compile()})[0]["rejected"];
    EXPECT_EQ(rejection, json({{"code", 0x80070057},
                               {"rule", "test.rule"},
                               {"message", "bad window"},
                               {"legalFromFeatureLevel", "5.0"}}));
    EXPECT_EQ(worker::rejection_from_json(rejection).value().legal_from, (core::FeatureLevel{5, 0}));
    Behaviour breaking;
    breaking.compile_failure = broken("no device");
    EXPECT_EQ(error_of(answers_to(fake(breaking), {compile()})[0]), "no device");
}

TEST(Server, ErrorsAreAnswersAndTheNextRequestIsServed) {
    for (const char* step : {"unsupported", "compile", "bind", "execute", "read"}) {
        Behaviour behaviour;
        int count = 0;
        behaviour.at_step = [&, step](const std::string& at) {
            if (at == step && ++count == 1) {
                throw std::runtime_error("a bug");
            }
        };
        const auto answers =
            answers_to(fake(behaviour), {compile(), bind_to(four_bytes), ask("execute", 1), ask("read", 1), compile()});
        const auto error =
            std::find_if(answers.begin(), answers.end(), [](const json& a) { return a.contains("error"); });
        ASSERT_NE(error, answers.end()) << step;
        EXPECT_EQ(error_of(*error), "exception: a bug") << step;
        EXPECT_EQ(answers.back()["accepted"], true) << step;
    }
}

TEST(Server, RequestsThatMakeNoSense) {
    const std::pair<json, const char*> rows[] = {
        {{{"request", "dance"}}, "no such executable, or no request `dance`"},
        {{{"nothing", 1}}, "no such executable"},
        {ask("dance", 1), "no request `dance`"},
        {ask("execute", 77), "no such executable"},
        {ask("execute", 1), "no inputs are bound"},
        {ask("read", 1), "no inputs are bound"},
        {ask("bind", 1), "one entry for each of 1 inputs"},
        {bind_to(json::array()), "one entry for each of 1 inputs"},
        {bind_to({nullptr}), "InputTensor must be a string of 4 bytes"},
        {bind_to({"text"}), "InputTensor must be a string of 4 bytes"},
        {bind_to(json::array({json::binary({1, 2, 3})})), "InputTensor must be a string of 4 bytes"},
        {{{"request", "compile"}}, "has no operator"},
        {ask_info(2), "version 1"},
        {{{"request", "info"}}, "version 1"},
    };
    for (const auto& [request, message] : rows) {
        const auto answers = answers_to(fake(), {compile(), request});
        EXPECT_NE(error_of(answers[1]).find(message), std::string::npos) << answers[1].dump();
    }
}

TEST(Server, WithoutAnEngineEverythingIsThatError) {
    const core::Result<std::unique_ptr<Engine>> none = core::fail("no driver", "install one");
    for (const json& answer : answers_to(none, {ask_info(1), compile()})) {
        EXPECT_EQ(answer["error"], json({{"message", "no driver"}, {"hint", "install one"}}));
    }
}

TEST(Server, InputThatIsNotTheProtocol) {
    const std::pair<std::string, const char*> rows[] = {
        {"GET / HTTP/1.1\r\n", "\"GET / HT\""},
        {std::string("dmlw\x10\0\0\0abc", 11), "ended within a message"},
        {std::string("dmlw\xff\xff\xff\x7f", 8), "ended within a message"},
        {std::string("dmlw\xff\xff\xff\xff", 8), "announces"},
        {std::string("dmlw\1\0\0\0\xff", 9), "simple value"},
        {std::string("dmlw\1\0\0\0\x00", 9), "has no id"},
        {std::string("dmlw\1\0\0\0\xa0", 9), "has no id"},
    };
    for (const auto& [text, message] : rows) {
        const Conversation conversation = converse(fake(), {text.begin(), text.end()});
        ASSERT_FALSE(conversation.outcome.has_value()) << text;
        EXPECT_NE(conversation.outcome.error().message.find(message), std::string::npos)
            << conversation.outcome.error().message;
        EXPECT_TRUE(conversation.answers.empty());
    }
    EXPECT_TRUE(converse(fake(), {}).outcome.has_value()) << "the end of the input is an ordinary end";
}

TEST(Messages, GraphsAreOptional) {
    EXPECT_TRUE(worker::takes_graphs({{"graphs", 1}}));
    for (const json& other : {json(), json(2), json("1"), json(true), json(-1)}) {
        EXPECT_FALSE(worker::takes_graphs({{"graphs", other}})) << other;
    }
    EXPECT_FALSE(worker::takes_graphs(json::object()));
}

TEST(Messages, InfoOfOtherWorkers) {
    const json least{{"protocol", 1}, {"name", "mine"}, {"featureLevel", "2.0"}};
    const auto info = worker::info_from_json(least);
    ASSERT_TRUE(info.has_value()) << info.error().message;
    EXPECT_EQ(info->name, "mine");
    EXPECT_EQ(info->adapter, "");
    EXPECT_TRUE(info->libraries.empty());
    json more = least;
    more["libraries"] = json::parse(R"([["b", "2"], ["a", "1"]])");
    more["adapter"] = "x\x1b[2J";
    EXPECT_EQ(worker::info_from_json(more)->libraries[0], (std::pair<std::string, std::string>{"b", "2"}));
    EXPECT_EQ(worker::info_from_json(more)->adapter, "x\x1b[2J");
    const std::pair<const char*, const char*> rows[] = {
        {R"({"protocol": 2})", "speaks version 2"},
        {R"({"protocol": null})", "speaks no version"},
        {R"({"protocol": -1})", "speaks no version"},
        {R"({"name": null})", "name"},
        {R"({"name": ""})", "name"},
        {R"({"featureLevel": 2.0})", "feature level"},
        {R"({"featureLevel": "9.9"})", "feature level"},
        {R"({"libraries": ["x"]})", "libraries"},
        {R"({"libraries": [["x", 1]]})", "libraries"},
        {R"({"libraries": {"x": "1"}})", "libraries are not an array of pairs"},
        {R"({"libraries": "x 1"})", "libraries are not an array of pairs"},
    };
    for (const auto& [patch, message] : rows) {
        json changed = least;
        changed.merge_patch(json::parse(patch));
        const auto read = worker::info_from_json(changed);
        ASSERT_FALSE(read.has_value()) << patch;
        EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
    }
    EXPECT_FALSE(worker::info_from_json(5).has_value());
    EXPECT_FALSE(worker::rejection_from_json({{"code", -1}}).has_value());
    EXPECT_FALSE(worker::rejection_from_json({{"code", 1ull << 32}}).has_value());
    EXPECT_FALSE(worker::rejection_from_json(nullptr).has_value());
    EXPECT_EQ(worker::error_from_json("x").message, "an error without a message");
}

}  // namespace
}  // namespace dmlconform::tests::server_test

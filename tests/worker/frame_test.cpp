// Tests of engine/worker/frame and related text functions: headers, and splitting of commands.
#include "engine/worker/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/worker/command_words.h"

namespace dmlconform::worker::frame_test {
namespace {

std::array<std::byte, frame_header_size> header_of(std::string_view text) {
    std::array<std::byte, frame_header_size> header{};
    std::transform(text.begin(), text.end(), header.begin(), [](char c) { return static_cast<std::byte>(c); });
    return header;
}

TEST(Frame, HeaderAndContent) {
    std::vector<std::uint8_t> frames{9};
    ASSERT_TRUE(append_frame({1, 2}, frames).has_value());
    ASSERT_TRUE(append_frame(std::string(300, 'x'), frames).has_value());
    ASSERT_GT(frames.size(), 1u + 8 + 3 + 8);
    EXPECT_EQ(std::string(frames.begin() + 1, frames.begin() + 12), std::string("dmlw\3\0\0\0\x82\1\2", 11));
    EXPECT_EQ(std::string(frames.begin() + 12, frames.begin() + 20), std::string("dmlw\x2f\1\0\0", 8));
    EXPECT_EQ(message_size(header_of(std::string_view("dmlw\x2f\1\0\0", 8))), 303u);
}

TEST(Frame, WhatIsNoHeader) {
    const std::pair<std::string_view, const char*> rows[] = {
        {"hello wo", "\"hello wo\""},
        {{"\0\0\0\0\0\0\0\0", 8}, "it begins with \""},
        {{"\x1b[2Jdmlw", 8}, "\"\x1b[2Jdmlw\""},
        {{"DMLW\1\0\0\0", 8}, "instead of a frame's header"},
        {{"dmlw\0\0\0\x80", 8}, "announces 2147483648 bytes"},
        {{"dmlw\xff\xff\xff\xff", 8}, "announces 4294967295 bytes"},
    };
    for (const auto& [text, message] : rows) {
        const auto size = message_size(header_of(text));
        ASSERT_FALSE(size.has_value()) << text;
        EXPECT_NE(size.error().message.find(message), std::string::npos) << size.error().message;
    }
}

TEST(CommandWords, BlanksQuotesAndBackslashes) {
    using Words = std::vector<std::string>;
    const std::pair<const char*, Words> rows[] = {
        {"a", {"a"}},
        {"  ssh\tbox   dmlconform worker ", {"ssh", "box", "dmlconform", "worker"}},
        {R"("C:\Program Files\a.exe" x)", {R"(C:\Program Files\a.exe)", "x"}},
        {R"(C:\tools\a.exe)", {R"(C:\tools\a.exe)"}},
        {R"(sh -c 'echo "$1" \x')", {"sh", "-c", R"(echo "$1" \x)"}},
        {R"("say \"hi\" \\ 'x'")", {R"(say "hi" \ 'x')"}},
        {R"(a\ b \"c\' \\)", {"a b", "\"c'", "\\"}},
        {R"(a"b c"d'e f')", {"ab cde f"}},
        {R"('' "")", {"", ""}},
        {R"(a\)", {R"(a\)"}},
    };
    for (const auto& [command, words] : rows) {
        EXPECT_EQ(split_command(command), words) << command;
    }
    for (const char* command : {"", "  ", "'a", "\"a\\\"", "a 'b\""}) {
        EXPECT_FALSE(split_command(command).has_value()) << command;
    }
}

}  // namespace
}  // namespace dmlconform::worker::frame_test

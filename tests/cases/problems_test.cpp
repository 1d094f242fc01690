// Tests of engine/cases/problems: their text, their order, and suggestions.
#include "engine/cases/problems.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/cases/reading.h"

namespace dmlconform::tests::problems_test {
namespace {

using cases::Problem;
using cases::ProblemSink;
using cases::suggestion;

TEST(Problems, Text) {
    EXPECT_EQ(to_string(Problem{"a/b.json", 12, 7, "/cases/0", "something is wrong", "make it right"}),
              "a/b.json:12:7: error: something is wrong (at /cases/0)\n    hint: make it right");
    EXPECT_EQ(to_string(Problem{"a.json", 1, 1, "", "something is wrong", ""}),
              "a.json:1:1: error: something is wrong");
    // Problems of a whole file have no line.
    EXPECT_EQ(to_string(Problem{"a.json", 0, 0, "", "no such file", ""}), "a.json: error: no such file");
}

TEST(Problems, AreInTheOrderOfTheFileWithPositionsAndPointers) {
    const std::string_view text = "{\n  \"a\": 1,\n  \"b\": [2, 3]\n}";
    const auto document = json(text);
    ProblemSink problems("x.json", text);
    const auto& list = *document.find("b")->array();
    problems.add(list[1].offset, "third");
    problems.add(document.find("a")->offset, "first", "a hint");
    problems.add(list[0].offset, "second");
    problems.add(list[0].offset, "second, but found later");
    EXPECT_EQ(problems.count(), 4u);
    const auto taken = problems.take(document);
    EXPECT_EQ(short_texts(taken), (std::vector<std::string>{"2:8 /a: first [a hint]", "3:9 /b/0: second",
                                                            "3:9 /b/0: second, but found later", "3:12 /b/1: third"}));
    for (const Problem& problem : taken) {
        EXPECT_EQ(problem.file, "x.json");
    }
    EXPECT_TRUE(problems.take(document).empty()) << "they were given away";
}

TEST(Problems, AfterAHundredTheRestIsANumber) {
    const std::string text(1000, ' ');
    ProblemSink problems("x.json", text);
    for (int times = 0; times < 2; ++times) {
        for (std::size_t offset = 0; offset < 137; ++offset) {
            problems.add(offset, "wrong");
        }
    }
    // The count must keep growing, because readers compare counts to notice errors.
    EXPECT_EQ(problems.count(), 2 * 137u);
    const auto taken = problems.take({});
    ASSERT_EQ(taken.size(), 101u);
    EXPECT_EQ(to_string(taken.back()), "and 37 more problems");
    EXPECT_EQ(cases::count_of(taken), 137u);

    std::vector<Problem> all;
    for (int file = 0; file < 3; ++file) {
        auto more = taken;
        cases::append_problems(std::move(more), all);
    }
    cases::append_problems({{"y.json", 0, 0, "", "no such file", ""}}, all);
    ASSERT_EQ(all.size(), 101u);
    EXPECT_EQ(cases::count_of(all), 3 * 137u + 1);
    EXPECT_EQ(to_string(all.back()), "and 312 more problems");
    Problem one;
    one.more = 1;
    EXPECT_EQ(to_string(one), "and 1 more problem");
}

TEST(Problems, OneMistakeIsReportedOnce) {
    ProblemSink problems("x.json", "[1, 2]");
    for (int i = 0; i < 3; ++i) {
        problems.add(1, "wrong");
        problems.add(4, "wrong");
    }
    problems.add(1, "wrong in another way");
    EXPECT_EQ(problems.take(json("[1, 2]")).size(), 3u);
}

TEST(Problems, PositionsAreThoseOfTheText) {
    for (const std::string_view text : {"", "\n", "a", "a\n", "\na", "ab\r\ncd\n\n\nef", "\n\n"}) {
        const ProblemSink problems("x.json", text);
        for (std::size_t offset = 0; offset < text.size() + 3; ++offset) {
            const auto slow = cases::position_of(text, offset);
            const auto fast = problems.position(offset);
            EXPECT_EQ(fast.line, slow.line) << text << " at " << offset;
            EXPECT_EQ(fast.column, slow.column) << text << " at " << offset;
        }
    }
}

TEST(Problems, RepetitionsDoNotCrowdOutOthers) {
    ProblemSink problems("x.json", "[1, 2]");
    for (int i = 0; i < 1000; ++i) {
        problems.add(1, "wrong in the defaults");
    }
    problems.add(4, "wrong in the last case");
    EXPECT_EQ(problems.take(json("[1, 2]")).size(), 2u);
}

TEST(Suggestion, WhatWasMeant) {
    const std::vector<std::string> names{
        "InputTensor", "OutputTensor", "InputWindowOffsets", "InputWindowStrides", "InputWindowSizes", "Axis", "K"};
    struct Row {
        std::string_view word;
        std::string_view meant;  // empty if no name is similar enough
    };
    const Row rows[] = {
        {"InputTensor", "InputTensor"},
        {"inputtensor", "InputTensor"},
        {"IputTensor", "InputTensor"},
        {"InputTensors", "InputTensor"},
        {"InptuTensor", "InputTensor"},  // two letters swapped
        {"InputWindowStrdies", "InputWindowStrides"},
        {"InputWindowSize", "InputWindowSizes"},
        {"InputWindowOffset", "InputWindowOffsets"},
        {"WindowSizes", "InputWindowSizes"},  // 5 of 16 letters differ
        {"Axes", "Axis"},
        {"Axsi", "Axis"},
        {"k", "K"},
        {"J", "K"},  // one letter may always differ
        {"Tensor", ""},
        {"Alpha", ""},
        {"Direction", ""},
        {"Aes", ""},  // 2 of 4 letters differ
    };
    for (const Row& row : rows) {
        EXPECT_EQ(suggestion(row.word, names),
                  row.meant.empty() ? std::string() : fmt::format("did you mean `{}`?", row.meant))
            << row.word;
    }
}

TEST(Suggestion, TheNearestAndOfEquallyNearOnesTheFirst) {
    const std::vector<std::string> names{"abcdefghi", "abcdefghij", "abcdefghik"};
    EXPECT_EQ(suggestion("abcdefghij", names), "did you mean `abcdefghij`?");
    EXPECT_EQ(suggestion("abcdefghxx", names), "did you mean `abcdefghi`?");
    EXPECT_EQ(suggestion("abcdefghkk", names), "did you mean `abcdefghik`?");
}

TEST(Suggestion, NothingToChooseFrom) {
    EXPECT_EQ(suggestion("Axis", std::vector<std::string>{}), "");
}

TEST(Suggestion, LongWordsAreNotCompared) {
    const std::string longest(100, 'a');
    const std::vector<std::string> names{longest};
    EXPECT_NE(suggestion(longest, names), "");
    EXPECT_EQ(suggestion(longest + "a", names), "");
    std::string very_long;
    very_long.resize(10'000'000, 'a');
    EXPECT_EQ(suggestion(very_long, names), "");
}

}  // namespace
}  // namespace dmlconform::tests::problems_test

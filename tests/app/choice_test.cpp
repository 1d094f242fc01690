// Tests which cases a run selects, and what it reports about those that no engine verified.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::choice_test {
namespace {

std::string example_worker() {
    return std::string("exec:python3 -B ") + EXAMPLE_WORKER;
}

/// The example worker does not support this operator.
constexpr std::string_view identity = R"({ "name": "identity", "operator": "ELEMENT_WISE_IDENTITY",
    "desc": { "InputTensor": { "DataType": "INT32", "Sizes": [2] }, "OutputTensor": { "DataType": "INT32", "Sizes": [2] } },
    "inputs": { "InputTensor": [1, 2] }, "expected": { "OutputTensor": [1, 2] } })";

class Choice : public testing::Test {
protected:
    TemporaryFolder folder_;
    std::string file_ = folder_.write("a.json", file_of({slice_case("x/good", right_values),
                                                         slice_case("x/bad", wrong_values), std::string(identity)}));
};

TEST_F(Choice, Exclude) {
    const struct {
        std::vector<std::string> words;
        int cases;
    } rows[] = {{{"--exclude", "a/x/*"}, 1},
                {{"--exclude", "*bad"}, 2},
                {{"--exclude", "*bad", "--exclude", "a/identity"}, 1},
                {{"--filter", "a/x/*", "--exclude", "*bad"}, 1}};
    for (const auto& row : rows) {
        std::vector<std::string> words{"run", file_, "--engine", "cpu"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const ProgramResult result = dmlconform(words);
        EXPECT_EQ(std::stoi(result.output), row.cases) << result.all();
        EXPECT_EQ(result.errors, "");
    }
    const ProgramResult none = dmlconform({"run", file_, "--exclude", "*"});
    EXPECT_TRUE(ends_with_code(none, 2));
    EXPECT_TRUE(complains(none, "hint: --exclude leaves none of them\n"));
    EXPECT_TRUE(complains(dmlconform({"run", file_, "--engine", "cpu", "--exclude", "*bad", "--exclude", "typo*"}),
                          "note: --exclude typo* matches none of the cases\n"));
}

TEST_F(Choice, RerunFailed) {
    const std::string result = folder_.at("result.json");
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file_, "--engine", "cpu", "--json", result}), 1));
    const ProgramResult again = dmlconform({"run", "--rerun-failed", result});
    EXPECT_TRUE(ends_with_code(again, 1));
    EXPECT_TRUE(again.output.starts_with("1 case on 1 engine\n  cpu ")) << "on the engine where it failed\n"
                                                                        << again.all();
    EXPECT_TRUE(prints(again, "FAIL a/x/bad on cpu"));
    // After the mistake is fixed, the result of that run contains nothing to run again.
    folder_.write("a.json", file_of({slice_case("x/good", right_values), slice_case("x/bad", right_values)}));
    const std::string second = folder_.at("second.json");
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file_, "--rerun-failed", result, "--json", second}), 0));
    const ProgramResult nothing = dmlconform({"run", "--rerun-failed", second});
    EXPECT_TRUE(ends_with_code(nothing, 0));
    EXPECT_EQ(nothing.output, "Nothing failed in " + second + ", so that nothing is run.\n");
    folder_.write("a.json", file_of({slice_case("renamed", right_values)}));
    const ProgramResult renamed = dmlconform({"run", "--rerun-failed", result});
    EXPECT_TRUE(ends_with_code(renamed, 2));
    EXPECT_TRUE(complains(renamed, "have the cases been renamed?"));
    EXPECT_TRUE(ends_with_code(dmlconform({"run", "--rerun-failed", folder_.at("none.json")}), 2));
    const ProgramResult neither = dmlconform({"run"});
    EXPECT_TRUE(ends_with_code(neither, 2));
    EXPECT_TRUE(complains(neither, "paths is required"));
}

TEST_F(Choice, FailOnSkip) {
    const std::vector<std::string> words{"run",      file_, "--exclude", "*bad",
                                         "--engine", "cpu", "--engine",  example_worker()};
    EXPECT_TRUE(ends_with_code(dmlconform(words), 0));
    std::vector<std::string> strict = words;
    strict.emplace_back("--fail-on-skip");
    const ProgramResult result = dmlconform(strict);
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result,
                       "Skipped, which --fail-on-skip makes a failure:\n"
                       "  1 case: exec:python: this example computes SLICE1 only (a/identity)\n"));
    // Skips that the expectations ask for do not count.
    const std::string expected = folder_.write("e.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1,
        "expectations": [ { "cases": "a/identity", "engine": "exec:python", "status": "skip", "reason": "later" } ] })");
    strict.insert(strict.end(), {"--expect", expected});
    EXPECT_TRUE(ends_with_code(dmlconform(strict), 0));
}

TEST_F(Choice, WhatNoEngineVerifiedHasItsReasons) {
    const ProgramResult result = dmlconform({"run", file_, "--exclude", "*bad", "--engine", example_worker()});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result,
                       "Verified by no engine: 1 of 2 cases: a/identity\n"
                       "  1 case: exec:python: this example computes SLICE1 only (a/identity)\n"));
}

}  // namespace
}  // namespace dmlconform::tests::choice_test

// Tests of `dmlconform run --expect`: files of known failures, from the command line to the exit code.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::expect_test {
namespace {

class Expect : public testing::Test {
protected:
    std::string expectations(std::string_view entries) {
        return folder_.write(
            "cases/expectations/known.json",
            fmt::format(
                "{{ \"format\": \"dmlconform-expectations\", \"formatVersion\": 1, \"expectations\": [\n{}\n] }}\n",
                entries));
    }
    ProgramResult run(const std::string& file, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"run", folder_.at("cases"), "--engine", "cpu", "--expect", file};
        words.insert(words.end(), more.begin(), more.end());
        return dmlconform(words);
    }

    TemporaryFolder folder_;
    std::string cases_ = folder_.write("cases/bad.json", bad_file());
};

TEST_F(Expect, AKnownFailureIsAsExpected) {
    const std::string file = expectations(R"({ "cases": "bad/bad", "status": "fail", "reason": "known" })");
    const std::string json = folder_.at("result.json");
    const ProgramResult result = run(file, {"--json", json});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ": 1 pass, 1 xfail\n"));
    EXPECT_EQ(result.errors, "");
    const auto document = nlohmann::json::parse(content_of(json));
    EXPECT_EQ(document["summary"]["xfail"], 1);
    const auto& failed = document["results"][1];
    EXPECT_EQ(failed["status"], "xfail");
    EXPECT_EQ(failed["actualStatus"], "fail");
    EXPECT_EQ(failed["reason"], "the output differs beyond tolerance");
    EXPECT_EQ(failed["expectation"],
              nlohmann::json({{"file", file}, {"line", 2}, {"status", "fail"}, {"reason", "known"}}));
}

TEST_F(Expect, AnUnexpectedPassFailsTheGate) {
    const std::string file = expectations(R"({ "cases": "bad/*", "status": "fail", "reason": "known" })");
    const ProgramResult result = run(file);
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "XPASS bad/good on cpu"));
    EXPECT_TRUE(prints(result, fmt::format("reason      the case passes, but {}:2 expects fail: known\n", file)));
    EXPECT_TRUE(prints(result, "--expect " + file));
    EXPECT_TRUE(prints(result, ": 1 xfail, 1 xpass\n"));
}

TEST_F(Expect, ConditionsOnDescriptorsDoWithoutIds) {
    const std::string file =
        expectations(R"({ "operators": "SLICE1", "when": { "InputTensor": { "values": { "atLeast": 0 } } },
                          "status": "fail", "happens": "differs", "sometimes": true, "finding": "sums",
                          "reason": "known" })");
    const std::string json = folder_.at("result.json");
    const ProgramResult result = run(file, {"--json", json});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ": 1 pass, 1 xfail\n"));
    EXPECT_EQ(nlohmann::json::parse(content_of(json))["results"][1]["expectation"]["reason"], "sums: known");
    // An entry that is too wide must be narrowed by a person.
    const std::string wide = expectations(R"({ "operators": "SLICE1", "status": "fail", "reason": "known" })");
    const std::string before = content_of(wide);
    const ProgramResult update = run(wide, {"--update-expectations"});
    EXPECT_TRUE(ends_with_code(update, 1));
    EXPECT_TRUE(prints(update, "bad/good passes: the condition is too wide, narrow it by hand"));
    EXPECT_EQ(content_of(wide), before);
}

TEST_F(Expect, ValidateAndDescribeSayWhatIsKnown) {
    const std::string file = expectations(R"({ "operators": "SLICE1", "when": { "InputTensor": { "values": 4 } },
        "engine": "*directml", "status": "fail", "happens": "rejected", "finding": "fours", "reason": "it is afraid" },
        { "operators": "SLICE1", "status": "skip", "reason": "slow" },
        { "operators": "CAST", "status": "error", "reason": "not here" })");
    const ProgramResult validated = dmlconform({"validate", cases_, "--expect", file});
    EXPECT_TRUE(ends_with_code(validated, 0));
    EXPECT_TRUE(
        prints(validated, "note: bad/good: legal by the documentation; directml rejects it: fours: it is afraid\n"));
    EXPECT_TRUE(prints(validated, "2 of them are known to be judged differently by an engine\n"));
    const ProgramResult described = dmlconform({"describe", "SLICE1", "--expect", file});
    EXPECT_TRUE(
        prints(described, fmt::format("Known differences, for some descriptors:\n  fours: it is afraid: directml "
                                      "rejects it ({}:2)\n",
                                      file)));
    EXPECT_EQ(occurrences(described.output, "not here") + occurrences(described.output, "slow"), 0u);
    EXPECT_TRUE(ends_with_code(dmlconform({"describe", "SLICE1", "--expect", folder_.at("none.json")}), 2));
}

TEST_F(Expect, TellsWhatIsOfNoUse) {
    const std::string file = expectations(R"({ "cases": "bad/bad", "status": "fail", "reason": "known" },
        { "cases": "bad/bda", "status": "fail", "reason": "mistyped" },
        { "cases": "bad/good", "status": "fail", "reason": "of the past", "expires": "2020-01-31" },
        { "cases": "*", "engine": "directml", "status": "skip", "reason": "not here" })");
    const ProgramResult all = run(file);
    EXPECT_TRUE(ends_with_code(all, 0));
    EXPECT_EQ(all.errors, fmt::format("{0}:4: note: expired on 2020-01-31, so it no longer counts: of the past\n"
                                      "{0}:3: note: not used: there was no result for \"bad/bda\" with status fail\n",
                                      file));
    const ProgramResult some = run(file, {"--filter", "bad/bad"});
    EXPECT_TRUE(ends_with_code(some, 0));
    EXPECT_EQ(occurrences(some.errors, "not used"), 0u) << some.errors;
}

TEST_F(Expect, SeveralFilesAreOne) {
    const std::string other =
        folder_.write("more.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [
            { "cases": "bad/good", "status": "skip", "reason": "slow" } ] })");
    const ProgramResult result =
        run(expectations(R"({ "cases": "bad/bad", "status": "fail", "reason": "known" })"), {"--expect", other});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ": 1 skip, 1 xfail\n"));
}

TEST_F(Expect, AWrongFileIsAnErrorBeforeTheRun) {
    const std::string file = expectations(R"({ "cases": "bad/bad", "status": "fial", "reason": "known" })");
    const ProgramResult mistyped = run(file);
    EXPECT_TRUE(ends_with_code(mistyped, 2));
    EXPECT_TRUE(complains(mistyped, file + ":2:"));
    EXPECT_TRUE(complains(mistyped, "did you mean `fail`?"));
    EXPECT_EQ(mistyped.output, "");
    const ProgramResult none = run(folder_.at("none.json"));
    EXPECT_TRUE(ends_with_code(none, 2));
    EXPECT_TRUE(complains(none, "none.json: error: there is no such file"));
    const ProgramResult case_file = run(cases_);
    EXPECT_TRUE(ends_with_code(case_file, 2));
    EXPECT_TRUE(complains(case_file, "is this a case file?"));
}

TEST_F(Expect, UpdatesLeaveTheRestAsItIs) {
    const std::string file = folder_.write("known.json", R"(// What is known.
{
  "format": "dmlconform-expectations",
  "formatVersion": 1,
  "expectations": [
    // of another engine
    { "cases":   "*", "engine": "directml", "status": "skip", "reason": "not here" },
    // mended
    {
      "cases": ["bad/good", "bad/other"],
      "status": "fail",
      "reason": "a list"
    },
    { "cases": "bad/g*", "status": "error", "reason": "gone" }  // the last
    // end
  ]
}
)");
    const ProgramResult update = run(file, {"--update-expectations"});
    EXPECT_TRUE(ends_with_code(update, 1));
    EXPECT_EQ(content_of(file), R"(// What is known.
{
  "format": "dmlconform-expectations",
  "formatVersion": 1,
  "expectations": [
    // of another engine
    { "cases":   "*", "engine": "directml", "status": "skip", "reason": "not here" },
    // mended
    {
      "cases": ["bad/other"],
      "status": "fail",
      "reason": "a list"
    },
      // the last
    // end
    {
      "cases": "bad/bad",
      "engine": "cpu",
      "status": "fail",
      "reason": "the output differs beyond tolerance"
    }
  ]
}
)");
    EXPECT_TRUE(prints(update, fmt::format("{}:14: removed: gone\n", file)));
    EXPECT_EQ(update.errors, "");
    EXPECT_TRUE(prints(update, "added an entry for new failures"));
    const std::string after = content_of(file);
    EXPECT_TRUE(ends_with_code(run(file), 0));
    EXPECT_TRUE(ends_with_code(run(file, {"--update-expectations"}), 0));
    EXPECT_EQ(content_of(file), after);
}

TEST_F(Expect, UpdatesNarrowPatternsWhenAllCasesWereRun) {
    const std::string before = R"({ "cases": "bad/*", "status": "fail", "reason": "some" })";
    const std::string file = expectations(before);
    const std::string text = content_of(file);
    EXPECT_TRUE(ends_with_code(run(file, {"--update-expectations", "--filter", "bad/good"}), 1));
    EXPECT_EQ(content_of(file), text) << "the others were not run";
    EXPECT_TRUE(ends_with_code(run(file, {"--update-expectations"}), 1));
    EXPECT_NE(content_of(file).find(R"({ "cases": "bad/bad", "status": "fail", "reason": "some" })"), std::string::npos)
        << content_of(file);
    EXPECT_TRUE(ends_with_code(run(file), 0));
}

/// The entry fits a failure on one engine, and the case passes on another. Its author may have meant either engine, so
/// updates leave it alone.
TEST_F(Expect, UpdatesLeaveWhatPassesOnOneEngineOnly) {
    const std::string file = expectations(R"({ "cases": "bad/g*", "status": "fail", "reason": "some" })");
    const std::string text = content_of(file);
    const std::string wrong = changed_worker(folder_, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    output[0] ^= 1
worker.slice1 = slice1)");
    const ProgramResult update = run(file, {"--engine", wrong, "--filter", "bad/good", "--update-expectations"});
    EXPECT_TRUE(ends_with_code(update, 1));
    EXPECT_TRUE(prints(update, "bad/good passes on one engine and fails on another: narrow \"bad/g*\" by hand"));
    EXPECT_EQ(content_of(file), text);
}

TEST_F(Expect, UpdatesMakeTheFile) {
    const std::string file = folder_.at("new.json");
    EXPECT_TRUE(ends_with_code(run(file, {"--update-expectations"}), 1));
    EXPECT_TRUE(ends_with_code(run(file), 0));
    EXPECT_TRUE(ends_with_code(dmlconform({"run", cases_, "--update-expectations"}), 2));
}

TEST_F(Expect, UpdatesAtTheSameTimeAreAllThere) {
    const std::string file = expectations(R"(// kept
{ "cases": "old/*", "engine": "directml", "status": "skip", "reason": "not here" },
{ "cases": "bad/bad", "status": "fail", "reason": "known" })");
    constexpr int runs = 8;
    std::vector<std::thread> threads;
    for (int i = 0; i < runs; ++i) {
        // Two runs share each name, so that some add entries that another run has added.
        const std::string name = fmt::format("f{}", i / 2);
        folder_.write(fmt::format("{}/{}.json", i, name), bad_file());
        threads.emplace_back([&, i, name] {
            const ProgramResult result = dmlconform({"run", folder_.at(fmt::format("{}/{}.json", i, name)), "--engine",
                                                     "cpu", "--expect", file, "--update-expectations"});
            EXPECT_TRUE(result.exit_code == 1 || result.exit_code == 0) << "0 after the other one:\n" << result.all();
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::string text = content_of(file);
    EXPECT_EQ(occurrences(text, "// kept"), 1u) << text;
    EXPECT_EQ(occurrences(text, R"("old/*")"), 1u) << text;
    for (int i = 0; i < runs / 2; ++i) {
        EXPECT_EQ(occurrences(text, fmt::format(R"("f{}/bad")", i)), 1u) << text;
    }
    EXPECT_TRUE(ends_with_code(run(file), 0)) << text;
}

TEST_F(Expect, UpdatesLeaveWhatAnotherRunHasChanged) {
    // While this run waits for somebody to read its pipe, another run removes the first entry.
    const std::string file = expectations(R"({ "cases": "bad/good", "status": "fail", "reason": "mended" },
{ "cases": "bad/bad", "status": "fail", "reason": "known" })");
    const std::string pipe = folder_.at("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    ProgramResult slow;
    std::thread waiting([&] { slow = run(file, {"--update-expectations", "--junit", pipe}); });
    std::this_thread::sleep_for(std::chrono::seconds(1));  // waits until the run has read the expectations
    EXPECT_TRUE(ends_with_code(run(file, {"--update-expectations"}), 1));
    const std::string after = content_of(file);
    EXPECT_EQ(occurrences(after, "mended"), 0u) << after;
    std::ifstream reader(pipe);
    std::string all((std::istreambuf_iterator<char>(reader)), {});
    waiting.join();
    EXPECT_TRUE(ends_with_code(slow, 1));
    EXPECT_EQ(content_of(file), after) << "what was to be removed is gone, and nothing else";
}

TEST_F(Expect, ExpectationsAreNoCases) {
    const std::string file = expectations("");
    const ProgramResult as_cases = dmlconform({"run", file});
    EXPECT_TRUE(ends_with_code(as_cases, 2));
    EXPECT_TRUE(complains(as_cases, file + ":1:13: error: this is a file of expectations, not of cases"));
    EXPECT_TRUE(complains(as_cases, "hint: give it with --expect"));
    const ProgramResult folder = dmlconform({"validate", folder_.at("cases")});
    EXPECT_TRUE(ends_with_code(folder, 0));
    EXPECT_TRUE(prints(folder, "2 of 2 cases"));
    const ProgramResult alone = dmlconform({"validate", folder_.at("cases/expectations")});
    EXPECT_TRUE(ends_with_code(alone, 2));
    EXPECT_TRUE(complains(alone, "there are only expectations here, and no case file"));
}

}  // namespace
}  // namespace dmlconform::tests::expect_test

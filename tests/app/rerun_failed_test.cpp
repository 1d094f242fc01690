// Tests of run --rerun-failed: failures run again with the same options, or the reason for not doing so is reported.
// Nothing turns green by being left out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::rerun_failed_test {
namespace {

using nlohmann::ordered_json;
using Words = std::vector<std::string>;

class RerunFailed : public testing::Test {
protected:
    std::string example_worker() const { return std::string("exec:python3 -B ") + EXAMPLE_WORKER; }

    /// Runs the cases, keeps the result, and returns its path.
    std::string result_of(Words words, int exit_code = 1) const {
        words.insert(words.begin(), {"run", file_});
        words.insert(words.end(), {"--json", result_});
        EXPECT_TRUE(ends_with_code(dmlconform(words), exit_code));
        return result_;
    }

    static ProgramResult rerun(const std::string& result, Words words = {}) {
        words.insert(words.begin(), {"run", "--rerun-failed", result});
        return dmlconform(words);
    }

    TemporaryFolder folder_;
    std::string file_ = folder_.write("a.json", bad_file());
    std::string result_ = folder_.at("result.json");
};

TEST_F(RerunFailed, OnACommandsEngineOnlyIfItIsNamed) {
    const std::string result = result_of({"--engine", example_worker()});
    const ProgramResult unnamed = rerun(result);
    EXPECT_TRUE(ends_with_code(unnamed, 2));
    EXPECT_TRUE(complains(unnamed, "cases failed on exec:python, which a command starts"));
    const ProgramResult named = rerun(result, {"--engine", example_worker()});
    EXPECT_TRUE(ends_with_code(named, 1));
    EXPECT_TRUE(prints(named, "FAIL a/bad on exec:python"));
    EXPECT_EQ(named.errors, "");
}

TEST_F(RerunFailed, NamesEnginesThatAreLeftOut) {
    const std::string result = result_of({"--engine", "cpu", "--engine", example_worker()});
    folder_.write("a.json", file_of({slice_case("good", right_values), slice_case("bad", right_values)}));
    const ProgramResult both = rerun(result, {"--engine", example_worker()});
    EXPECT_TRUE(ends_with_code(both, 0));
    EXPECT_TRUE(complains(both, "note: cases failed on cpu, too, and are not run there again"));
    const ProgramResult strict = rerun(result, {"--engine", example_worker(), "--strict"});
    EXPECT_TRUE(ends_with_code(strict, 1));
    EXPECT_TRUE(prints(strict, "  not all that failed could be run again (--strict)\n"));
}

TEST_F(RerunFailed, NamesCasesThatAreGone) {
    const std::string result = result_of({"--engine", "cpu"});
    const std::string two = folder_.at("two.json");
    folder_.write("a.json", file_of({slice_case("good", wrong_values), slice_case("bad", wrong_values)}));
    ASSERT_TRUE(ends_with_code(dmlconform({"run", file_, "--engine", "cpu", "--json", two}), 1));
    folder_.write("a.json", file_of({slice_case("good", right_values), slice_case("renamed", wrong_values)}));
    const ProgramResult lost = rerun(two);
    EXPECT_TRUE(ends_with_code(lost, 0));
    EXPECT_TRUE(complains(lost, "dmlconform: note: there is no case a/bad any more\n"));
    EXPECT_TRUE(ends_with_code(rerun(two, {"--strict"}), 1));
    const ProgramResult all = rerun(result);
    EXPECT_TRUE(ends_with_code(all, 2));
    EXPECT_TRUE(complains(all, "there is no case a/bad any more"));
}

TEST_F(RerunFailed, TakesOverHowItWasRun) {
    const std::string known =
        folder_.write("known.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [
        { "cases": "a/bad", "status": "crash", "reason": "known to crash" } ] })");
    const struct {
        Words words;
        std::string said;
    } rows[] = {
        {{"--expect", known}, "--expect=" + known},
        {{"--feature-level", "4.0"}, "--feature-level=4.0"},
        {{"--isolate", "--timeout", "30"}, "--isolate --timeout=30"},
        {{"--against=cpu", "--include-unspecified"}, "--against=cpu --include-unspecified"},
    };
    for (const auto& row : rows) {
        Words words = row.words;
        words.insert(words.end(), {"--engine", "cpu"});
        const std::string result = result_of(words);
        const ProgramResult again = rerun(result, {"--json", folder_.at("again.json")});
        EXPECT_TRUE(ends_with_code(again, 1));
        EXPECT_TRUE(complains(again, fmt::format("dmlconform: as in {}: {}\n", result, row.said)));
        EXPECT_TRUE(prints(again, "1 fail"));
        // The result of the second run contains the same options.
        EXPECT_TRUE(complains(rerun(folder_.at("again.json")), row.said + "\n"));
    }
    const ProgramResult other =
        rerun(result_of({"--feature-level", "4.0", "--engine", "cpu"}), {"--feature-level", "5.0"});
    EXPECT_EQ(other.errors, "") << "other options count, if they are given";
}

TEST_F(RerunFailed, ComparesWithTheSameEngine) {
    folder_.write("a.json", file_of({slice_case("bare", "")}));
    const std::string wrong = changed_worker(folder_, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    output[4:8] = b"\0\0\0\x41"
worker.slice1 = slice1)");
    const std::string result = result_of({"--engine", "cpu", "--against", wrong});
    const ProgramResult unnamed = rerun(result);
    EXPECT_TRUE(ends_with_code(unnamed, 2)) << "on the reference alone it would pass";
    EXPECT_TRUE(complains(unnamed, "cases were compared with an engine that a command starts"));
    EXPECT_TRUE(ends_with_code(rerun(result, {"--against", wrong}), 1));
}

TEST_F(RerunFailed, ARunThatFailedForAnotherReasonIsNotGreen) {
    folder_.write("a.json", file_of({slice_case("good", right_values)}));
    ordered_json document = ordered_json::parse(content_of(result_of({"--engine", "cpu"}, 0)));
    for (const auto& [code, reason] : {std::pair(1, "nothing was verified, or reports are missing"),
                                       std::pair(130, "it was interrupted, so that not all cases were run")}) {
        document["exitCode"] = code;
        const ProgramResult result = rerun(folder_.write("other.json", document.dump()));
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(
            complains(result, fmt::format("no case failed, but that run ended with exit code {}: {}", code, reason)));
    }
    // Another case failed as well, and passes now.
    document["results"][0]["status"] = "fail";
    const struct {
        int code;
        const char* option;
        int exit_code;
        const char* reason;
    } rows[] = {
        {1, "-q", 0, ""},
        {130, "-q", 1, "  it was interrupted, so that not all cases were run\n"},
        {143, "-q", 1, "  it was interrupted, so that not all cases were run\n"},
        {1, "--fail-fast", 1, "  it ended with the first failure (--fail-fast), so that not all cases were run\n"}};
    for (const auto& row : rows) {
        document["exitCode"] = row.code;
        document["command"].push_back(row.option);
        const ProgramResult result = rerun(folder_.write("other.json", document.dump()));
        EXPECT_TRUE(ends_with_code(result, row.exit_code));
        EXPECT_TRUE(prints(result, row.reason));
        document["command"].erase(document["command"].size() - 1);
    }
    document["exitCode"] = 1;
    document["command"].push_back("--strict");
    document["unverified"]["cases"] = 3;
    const ProgramResult strict = rerun(folder_.write("other.json", document.dump()));
    EXPECT_TRUE(ends_with_code(strict, 1));
    EXPECT_TRUE(prints(strict, "  it did not verify all that it had to (--strict)\n"));
}

TEST_F(RerunFailed, AResultThatDoesNotSayHowItWasMade) {
    ordered_json document = ordered_json::parse(content_of(result_of({"--engine", "cpu"})));
    document["command"] = {"dmlconform", "merge"};
    const ProgramResult result = rerun(folder_.write("other.json", document.dump()));
    EXPECT_TRUE(ends_with_code(result, 2));
    EXPECT_TRUE(complains(result, "it does not say by which `dmlconform run` or `dmlconform judge` it was made"));
    document["command"] = {"dmlconform", "fuzz"};
    const ProgramResult fuzzed = rerun(folder_.write("other.json", document.dump()));
    EXPECT_TRUE(ends_with_code(fuzzed, 2));
    EXPECT_TRUE(complains(fuzzed, "this is a result of `dmlconform fuzz`, whose cases are in no file"));
    document["command"] = {"dmlconform", "run", "--feature-level=99"};
    const ProgramResult wrong = rerun(folder_.write("other.json", document.dump()));
    EXPECT_TRUE(ends_with_code(wrong, 2));
    EXPECT_TRUE(complains(wrong, "its options cannot be taken over: --feature-level"));
}

}  // namespace
}  // namespace dmlconform::tests::rerun_failed_test

// End-to-end tests of `dmlconform fuzz`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::fuzz_test {
namespace {

using testing::HasSubstr;

TEST(Fuzz, TheReferenceAloneIsNotGreen) {
    const auto result = dmlconform({"fuzz", "SLICE1", "--engine", "cpu", "--count", "5", "--seed", "3"});
    EXPECT_EQ(result.exit_code, 3) << result.all();
    EXPECT_THAT(result.output, HasSubstr("SLICE1: nothing to compare"));
    EXPECT_THAT(result.errors, HasSubstr("nothing was compared: no two engines here run these operators"));
}

TEST(Fuzz, SaysWhyNothingWasCompared) {
    const std::string engine = std::string("exec:python3 -B ") + EXAMPLE_WORKER;
    const auto result = dmlconform({"fuzz", "CAST", "--engine", engine, "--count", "5", "--seed", "3"});
    EXPECT_EQ(result.exit_code, 3) << result.all();
    EXPECT_THAT(result.output, HasSubstr("Skipped:\n  5 cases: exec:python: this example computes SLICE1 only"));
    EXPECT_THAT(result.errors, HasSubstr("nothing was compared: cases were skipped for the reasons above"));
}

TEST(Fuzz, AWorkerThatRejectsTooLittleIsFound) {
    // The example worker checks only a few of the rules.
    const std::string engine = std::string("exec:python3 ") + EXAMPLE_WORKER;
    const auto result = dmlconform({"fuzz", "SLICE1", "--engine", engine, "--count", "60", "--seed", "3"});
    EXPECT_EQ(result.exit_code, 1) << result.all();
    EXPECT_THAT(result.output, HasSubstr("has to be rejected"));
    EXPECT_THAT(result.output, HasSubstr("again: " + dmlconform_path() + " fuzz SLICE1 --seed 3 --start "));
    // It computes legal descriptors correctly.
    const auto legal =
        dmlconform({"fuzz", "SLICE1", "--engine", engine, "--count", "40", "--seed", "3", "--perturbed", "0"});
    EXPECT_EQ(legal.exit_code, 0) << legal.all();
    EXPECT_THAT(legal.output, HasSubstr("40 cases of seed 3, 40 results compared, 0 failures"));
}

TEST(Fuzz, KnownDifferencesAreNoFailures) {
    const TemporaryFolder folder;
    const std::string engine = changed_worker(folder, R"(right = worker.answer
def answer(request, programs):
    if request["request"] == "compile" and request["desc"]["OutputTensor"]["DataType"] in ("FLOAT16", "INT8"):
        return {"rejected": {"code": 0x80070057, "rule": "type", "message": "not for me"}}
    return right(request, programs)
worker.answer = answer)");
    const auto fuzz = [&](const std::string& types) {
        const std::string file =
            folder.write("known.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [
                { "operators": "SLICE1", "when": { "OutputTensor": { "DataType": )" +
                                           types + R"( } }, "engine": "exec:*", "status": "fail", "happens": "rejected",
                  "finding": "short types", "reason": "they are not for it" } ] })");
        return dmlconform({"fuzz", "SLICE1", "--engine", engine, "--count", "60", "--seed", "3", "--perturbed", "0",
                           "--expect", file});
    };
    const auto known = fuzz(R"(["FLOAT16", "INT8"])");
    EXPECT_EQ(known.exit_code, 0) << known.all();
    EXPECT_THAT(known.output, testing::ContainsRegex("SLICE1: known: short types \\([0-9]+\\)"));
    EXPECT_THAT(known.output, testing::ContainsRegex("60 results compared, [0-9]+ known, 0 failures"));
    // Undeclared types fail, and so do types that are declared but not supported.
    const auto narrow = fuzz(R"("FLOAT16")");
    EXPECT_EQ(narrow.exit_code, 1) << narrow.all();
    // One failure is shown in full, with the number of similar ones.
    EXPECT_THAT(narrow.output, testing::ContainsRegex("\n[0-9]+ failures of this kind: SLICE1 on exec:[^\n]*: the "
                                                      "descriptor was rejected[^\n]*\n  the smallest: fuzz/SLICE1/3-"));
    std::size_t shown = 0;
    for (std::size_t at = 0; (at = narrow.output.find("\nfail fuzz/", at)) != std::string::npos; ++at) {
        ++shown;
    }
    EXPECT_EQ(shown, 1u) << narrow.output;
    EXPECT_THAT(narrow.output, HasSubstr("--expect " + folder.at("known.json")));
    const auto wide = fuzz(R"(["FLOAT16", "INT8", "INT16"])");
    EXPECT_EQ(wide.exit_code, 1) << wide.all();
    EXPECT_THAT(wide.output, HasSubstr("the case passes, but"));
    const auto wrong = fuzz(R"("FLOAT17")");
    EXPECT_EQ(wrong.exit_code, 2) << wrong.all();
    EXPECT_THAT(wrong.errors, HasSubstr("\"FLOAT17\" is not a data type"));
}

std::string text_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// The example worker checks only a few of the rules, so that some illegal descriptors fail.
TEST(Fuzz, WritesReportsLikeRun) {
    const TemporaryFolder folder;
    const std::string engine = std::string("exec:python3 ") + EXAMPLE_WORKER;
    const auto result =
        dmlconform({"fuzz", "SLICE1", "--engine", "cpu", "--engine", engine, "--count", "60", "--seed", "3", "--json",
                    folder.at("r.json"), "--junit", folder.at("r.xml"), "--summary", folder.at("r.md")});
    EXPECT_EQ(result.exit_code, 1) << result.all();
    const auto document = nlohmann::json::parse(text_of(folder.at("r.json")));
    EXPECT_EQ(document["exitCode"], 1);
    EXPECT_EQ(document["engines"].size(), 2u);
    const auto& results = document["results"];
    std::map<std::string, int> statuses;
    for (const auto& one : results) {
        ++statuses[one["engine"].get<std::string>() + " " + one["status"].get<std::string>()];
    }
    std::smatch found;
    const std::regex sums("([0-9]+) cases of seed 3, [0-9]+ results compared, ([0-9]+) failures");
    ASSERT_TRUE(std::regex_search(result.output, found, sums)) << result.all();
    EXPECT_EQ(results.size(), 2 * std::stoul(found[1])) << "each case on each engine";
    EXPECT_EQ(statuses["exec:python fail"], std::stoi(found[2]));
    EXPECT_GT(statuses["exec:python pass"], 0);
    EXPECT_GT(statuses["cpu reference"], 0);
    const std::string junit = text_of(folder.at("r.xml"));
    EXPECT_THAT(junit, HasSubstr("<testcase classname=\"exec:python\" name=\"fuzz/SLICE1/3-0\""));
    EXPECT_THAT(junit, HasSubstr("run again   " + dmlconform_path() + " fuzz SLICE1 --seed 3 --start "));
    EXPECT_THAT(text_of(folder.at("r.md")), HasSubstr("SLICE1"));
    const auto again = dmlconform({"run", "--rerun-failed", folder.at("r.json")});
    EXPECT_EQ(again.exit_code, 2) << again.all();
    EXPECT_THAT(again.errors, HasSubstr("this is a result of `dmlconform fuzz`, whose cases are in no file"));
    const auto diff = dmlconform({"diff", folder.at("r.json"), folder.at("r.json")});
    EXPECT_EQ(diff.exit_code, 0) << diff.all();
}

/// Pages need Chart.js, which a build may lack.
TEST(Fuzz, WritesAPage) {
    const TemporaryFolder folder;
    const std::string engine = std::string("exec:python3 ") + EXAMPLE_WORKER;
    const auto fuzzed = dmlconform(
        {"fuzz", "SLICE1", "--engine", engine, "--count", "20", "--seed", "3", "--html", folder.at("fuzz.html")});
    if (fuzzed.errors.find("this build has no Chart.js") != std::string::npos) {
        GTEST_SKIP() << "this build has no Chart.js";
    }
    EXPECT_EQ(fuzzed.exit_code, 1) << fuzzed.all();
    EXPECT_THAT(text_of(folder.at("fuzz.html")), HasSubstr("fuzz/SLICE1/3-"));
    const std::string file = folder.write("x.json", bad_file());
    const auto run = dmlconform({"run", file, "--engine", "cpu", "--html", folder.at("run.html")});
    EXPECT_EQ(run.exit_code, 1) << run.all();
    EXPECT_THAT(text_of(folder.at("run.html")), HasSubstr("x/bad"));
    const auto refused = dmlconform({"run", file, "--engine", "cpu", "--html", folder.at("none/run.html")});
    EXPECT_EQ(refused.exit_code, 2) << refused.all();
}

TEST(Fuzz, PrintedCasesCanBeRun) {
    const TemporaryFolder folder;
    const auto printed =
        dmlconform({"fuzz", "SLICE1", "TOP_K1", "ELEMENT_WISE_ADD", "--count", "8", "--seed", "3", "--print"});
    ASSERT_EQ(printed.exit_code, 0) << printed.all();
    folder.write("fuzz.json", printed.output);
    const auto listed = dmlconform({"list", folder.at("fuzz.json")});
    EXPECT_THAT(listed.output, HasSubstr("fuzz/SLICE1/3-0"));
    const auto run = dmlconform({"run", "--engine", "cpu", folder.at("fuzz.json")});
    EXPECT_THAT(run.all(), HasSubstr("8 cases"));
    EXPECT_THAT(run.all(), Not(HasSubstr("FAIL")));
}

TEST(Fuzz, PrintingKeepsToTheTime) {
    ProgramOptions options;
    options.timeout = std::chrono::seconds(60);
    for (const std::vector<std::string>& count : {std::vector<std::string>{}, {"--count", "1000000"}}) {
        std::vector<std::string> words{"fuzz", "SLICE1", "--seed", "3", "--print", "--time", "0.2"};
        words.insert(words.end(), count.begin(), count.end());
        const auto printed = dmlconform(words, options);
        EXPECT_EQ(printed.exit_code, 0) << printed.errors;
        EXPECT_THAT(printed.output, HasSubstr("SLICE1/3-1\""));
        EXPECT_THAT(printed.output, Not(HasSubstr("SLICE1/3-999999\"")));
    }
}

/// What --print would otherwise pass over silently.
TEST(Fuzz, PrintingHasNoReports) {
    const TemporaryFolder folder;
    const std::vector<std::vector<std::string>> wrong{{"--json", folder.at("r.json")},
                                                      {"--junit", folder.at("r.xml")},
                                                      {"--github"},
                                                      {"--bundle", folder.at("bundles")},
                                                      {"--engine", "cpo"},
                                                      {"--count", "1000001"}};
    for (const std::vector<std::string>& more : wrong) {
        std::vector<std::string> words{"fuzz", "SLICE1", "--print"};
        words.insert(words.end(), more.begin(), more.end());
        const auto refused = dmlconform(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.errors;
        EXPECT_EQ(refused.output, "");
    }
}

TEST(Fuzz, SlipsOfTheCommandLine) {
    const auto unknown = dmlconform({"fuzz", "SLICE9"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("did you mean `SLICE"));
    EXPECT_EQ(dmlconform({"fuzz", "--count", "0"}).exit_code, 2);
    EXPECT_EQ(dmlconform({"fuzz", "--perturbed", "101"}).exit_code, 2);
    EXPECT_EQ(dmlconform({"fuzz", "SLICE1", "--engine", "cpo"}).exit_code, 2);
}

TEST(Fuzz, CtrlCEndsItWithWhatWasFound) {
    ProgramOptions options;
    options.interrupt_when = [](const std::string& output) { return output.find("seed 3") != std::string::npos; };
    const auto result = dmlconform({"fuzz", "SLICE1", "--engine", "cpu", "--time", "60", "--seed", "3"}, options);
    EXPECT_EQ(result.exit_code, 130) << result.all();
    EXPECT_THAT(result.output, HasSubstr("cases of seed 3"));
}

}  // namespace
}  // namespace dmlconform::tests::fuzz_test

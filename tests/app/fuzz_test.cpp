// End-to-end tests of `dmlconform fuzz`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    EXPECT_THAT(result.errors, HasSubstr("nothing was compared"));
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

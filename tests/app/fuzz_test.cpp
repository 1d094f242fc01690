// `dmlconform fuzz` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests {
namespace {

using testing::HasSubstr;

TEST(Fuzz, TheReferenceAloneIsNotGreen) {
    const auto result = dmlconform({"fuzz", "SLICE1", "--engine", "cpu", "--count", "5", "--seed", "3"});
    EXPECT_EQ(result.exit_code, 3) << result.all();
    EXPECT_THAT(result.output, HasSubstr("SLICE1: nothing to compare"));
    EXPECT_THAT(result.errors, HasSubstr("nothing was compared"));
}

TEST(Fuzz, AWorkerThatRejectsTooLittleIsFound) {
    // The example knows few of the rules.
    const std::string engine = std::string("exec:python3 ") + EXAMPLE_WORKER;
    const auto result = dmlconform({"fuzz", "SLICE1", "--engine", engine, "--count", "60", "--seed", "3"});
    EXPECT_EQ(result.exit_code, 1) << result.all();
    EXPECT_THAT(result.output, HasSubstr("has to be rejected"));
    EXPECT_THAT(result.output, HasSubstr("again: " + dmlconform_path() + " fuzz SLICE1 --seed 3 --start "));
    // What is legal, it computes right.
    const auto legal =
        dmlconform({"fuzz", "SLICE1", "--engine", engine, "--count", "40", "--seed", "3", "--perturbed", "0"});
    EXPECT_EQ(legal.exit_code, 0) << legal.all();
    EXPECT_THAT(legal.output, HasSubstr("40 cases of seed 3, 40 results compared, 0 failures"));
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
}  // namespace dmlconform::tests

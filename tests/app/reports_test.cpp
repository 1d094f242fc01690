// Tests of reports for CI systems (JUnit, GitHub, Markdown, JSON lines), also with full disks.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/report/junit_report.h"
#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::reports_test {
namespace {

using Json = nlohmann::json;

/// A JUnit file as read by an independent XML parser.
Json parsed_junit(const std::string& path) {
    constexpr const char* program = R"(import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
def outcome(case):
    return [{"kind": c.tag, "message": c.get("message"), "text": c.text} for c in case]
print(json.dumps({"root": root.tag, "totals": root.attrib, "suites": [
    {"attributes": s.attrib, "properties": {p.get("name"): p.get("value") for p in s.iter("property")},
     "cases": [{"attributes": c.attrib, "outcome": outcome(c)} for c in s.iter("testcase")]}
    for s in root.iter("testsuite")]})))";
    const ProgramResult result = run_program({"/usr/bin/env", "python3", "-c", program, path});
    EXPECT_EQ(result.exit_code, 0) << result.all();
    return result.exit_code == 0 ? Json::parse(result.output) : Json();
}

class Reports : public testing::Test {
protected:
    ProgramResult run(std::vector<std::string> more, const ProgramOptions& options = {}) {
        more.insert(more.begin(), {"run", file_, "--engine", "cpu"});
        return dmlconform(more, options);
    }

    TemporaryFolder folder_;
    std::string file_ = folder_.write(
        "cases.json",
        file_of({slice_case("good", right_values), slice_case("bad", wrong_values), slice_case("alone", ""),
                 slice_case("off", std::string(wrong_values) + R"(, "tags": ["unspecified"])")}));
};

TEST_F(Reports, Junit) {
    const std::string path = folder_.at("junit.xml");
    EXPECT_TRUE(ends_with_code(run({"--junit", path}), 1));
    const Json document = parsed_junit(path);
    EXPECT_EQ(document["root"], "testsuites");
    EXPECT_EQ(document["totals"]["tests"], "4");
    EXPECT_EQ(document["totals"]["failures"], "1");
    EXPECT_EQ(document["totals"]["errors"], "0");
    EXPECT_EQ(document["totals"]["skipped"], "2");
    ASSERT_EQ(document["suites"].size(), 1u);
    const Json& suite = document["suites"][0];
    EXPECT_EQ(suite["attributes"]["name"], "cpu");
    EXPECT_EQ(suite["attributes"]["tests"], "4");
    EXPECT_NE(suite["properties"]["adapter"].get<std::string>().find("reference on"), std::string::npos);
    const Json& cases = suite["cases"];
    ASSERT_EQ(cases.size(), 4u);
    EXPECT_EQ(cases[0]["attributes"]["name"], "cases/good");
    EXPECT_EQ(cases[0]["attributes"]["file"], file_);
    EXPECT_GT(std::stoi(cases[0]["attributes"]["line"].get<std::string>()), 0);
    EXPECT_EQ(cases[0]["outcome"], Json::array());
    EXPECT_EQ(cases[1]["outcome"][0]["kind"], "failure");
    EXPECT_EQ(cases[1]["outcome"][0]["message"],
              "the output differs beyond tolerance (1 of 2: [1] 3.0000002 expected, 3 got)");
    EXPECT_NE(cases[1]["outcome"][0]["text"].get<std::string>().find("\n  run again   "), std::string::npos);
    EXPECT_EQ(cases[2]["outcome"][0]["message"],
              "reference: the case has no expected values, so this engine is the reference");
    EXPECT_EQ(cases[3]["outcome"][0]["kind"], "skipped");
}

TEST_F(Reports, JunitOfHostileTexts) {
    const std::string hostile =
        "]]> <!-- & \" ' \x01\x1b[31m \r\n\t \xff \xc0\x80 \xed\xa0\x80 \xef\xbf\xbe \xf4\x90\x80\x80 ü😀";
    const std::string path = folder_.at("junit.xml");
    EngineInfo engine;
    engine.name = hostile;
    engine.adapter = hostile;
    engine.driver = hostile;
    report::JunitReport junit(path, {});
    ASSERT_TRUE(junit.begin({}, std::vector{engine}));
    auto subject = std::make_shared<cases::Case>();
    subject->id = hostile;
    subject->file = hostile;
    run::RunTotals totals({engine});
    for (std::size_t status = 0; status < run::status_count; ++status) {
        run::CaseResult result;
        result.subject = subject;
        result.status = static_cast<run::Status>(status);
        result.reason = hostile;
        ASSERT_TRUE(junit.add(result));
    }
    ASSERT_TRUE(junit.finish(totals, 1));
    const Json document = parsed_junit(path);
    const std::string kept = "]]> <!-- & \" ' ��[31m \r\n\t � �� ��� � ���� ü😀";
    ASSERT_EQ(document["suites"][0]["cases"].size(), run::status_count);
    EXPECT_EQ(document["suites"][0]["attributes"]["name"], kept);
    EXPECT_EQ(document["suites"][0]["properties"]["driver"], kept);
    EXPECT_EQ(document["suites"][0]["cases"][0]["attributes"]["name"], kept);
    EXPECT_FALSE(document["suites"][0]["cases"][0]["attributes"].contains("line")) << "as of a model, which has none";
    EXPECT_EQ(document["suites"][0]["cases"][1]["outcome"][0]["message"], kept);
    EXPECT_EQ(document["suites"][0]["cases"][1]["outcome"][0]["text"], kept);
    EXPECT_EQ(document["suites"][0]["attributes"]["failures"], "2");
    EXPECT_EQ(document["suites"][0]["attributes"]["errors"], "3");
    EXPECT_EQ(document["suites"][0]["attributes"]["skipped"], "3");
}

TEST_F(Reports, GithubAnnotations) {
    ProgramOptions options;
    options.environment = {{"GITHUB_WORKSPACE", folder_.path().generic_string()}};
    const ProgramResult result = run({"--github", "--quiet"}, options);
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "\n::error file=cases.json,line="));
    EXPECT_TRUE(prints(result,
                       ",title=fail%3A cases/bad on cpu::the output differs beyond tolerance (1 of 2: [1] 3.0000002 "
                       "expected, 3 got)\n"));
    EXPECT_EQ(occurrences(result.output, "::error"), 1u);
}

TEST_F(Reports, GithubGetsPathsBelowTheCheckout) {
    std::filesystem::create_directories(folder_.at("job/inner"));
    folder_.write("job/bad.json", bad_file());
    ProgramOptions options;
    options.environment = {{"GITHUB_WORKSPACE", folder_.path().generic_string()}};
    options.folder = folder_.at("job");
    const auto annotated = [&](const std::string& file) {
        return dmlconform({"run", file, "--engine", "cpu", "--github", "--quiet"}, options);
    };
    EXPECT_TRUE(prints(annotated("bad.json"), "\n::error file=job/bad.json,line="));
    EXPECT_TRUE(prints(annotated("./inner/../bad.json"), "\n::error file=job/bad.json,line="));
    EXPECT_TRUE(prints(annotated("../cases.json"), "\n::error file=cases.json,line="));
    // A file outside the checkout cannot be annotated.
    options.environment = {{"GITHUB_WORKSPACE", folder_.at("job/inner")}};
    EXPECT_TRUE(prints(annotated("bad.json"), "\n::error file=bad.json,line="));
}

TEST_F(Reports, GithubGetsPercentSignsSpeltOut) {
    file_ = folder_.write("100%,a:b.json", bad_file());
    ProgramOptions options;
    options.environment = {{"GITHUB_WORKSPACE", folder_.path().generic_string()}};
    EXPECT_TRUE(prints(run({"--github", "--quiet"}, options), "\n::error file=100%25%2Ca%3Ab.json,line="));
}

TEST_F(Reports, GithubShowsTenOfMany) {
    std::string text;
    for (int i = 0; i < 30; ++i) {
        text += (i == 0 ? "" : ",\n") + slice_case(fmt::format("bad{}", i), wrong_values);
    }
    file_ = folder_.write("many.json", "{ \"cases\": [" + text + "] }");
    const ProgramResult result = run({"--github", "--quiet"});
    EXPECT_EQ(occurrences(result.output, "::error"), 10u);
    EXPECT_TRUE(prints(result, "::error title=dmlconform::and 21 more failures"));
}

TEST_F(Reports, Summary) {
    const std::string path = folder_.at("summary.md");
    EXPECT_TRUE(ends_with_code(run({"--summary", path}), 1));
    const std::string text = content_of(path);
    EXPECT_TRUE(text.starts_with("## dmlconform: ❌ 1 of 4 results failed\n")) << text;
    EXPECT_NE(text.find("| SLICE1 | cpu | 1 | 1 | 1 |"), std::string::npos) << text;
    EXPECT_NE(text.find(" | total time |"), std::string::npos) << text;
    EXPECT_NE(text.find("### Failures (1)"), std::string::npos) << text;
    EXPECT_NE(text.find("| cases/bad | cpu | fail | the output differs beyond tolerance \\(1 of 2: \\[1\\] 3.0000002 "
                        "expected, 3 got\\) |"),
              std::string::npos)
        << text;
    run({"--summary", path});
    EXPECT_EQ(occurrences(content_of(path), "## dmlconform"), 1u);
    // Output of other steps in the same job is kept.
    const std::string steps = folder_.write("steps.md", "# before\n");
    ProgramOptions options;
    options.environment = {{"GITHUB_STEP_SUMMARY", steps}};
    EXPECT_TRUE(ends_with_code(run({"--summary", steps}, options), 1));
    EXPECT_TRUE(content_of(steps).starts_with("# before\n## dmlconform: "));
}

TEST_F(Reports, JsonLines) {
    const std::string path = folder_.at("lines.jsonl");
    const std::string whole = folder_.at("whole.json");
    EXPECT_TRUE(ends_with_code(run({"--jsonl", path, "--json", whole}), 1));
    const Json results = Json::parse(content_of(whole))["results"];
    std::istringstream lines(content_of(path));
    std::string line;
    for (const Json& result : results) {
        ASSERT_TRUE(std::getline(lines, line));
        EXPECT_EQ(Json::parse(line), result);
    }
    EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(Reports, PathsThatCannotBeWrittenAreErrorsBeforeTheRun) {
    for (const char* option : {"--json", "--junit", "--summary", "--jsonl"}) {
        for (const std::string& path : {folder_.at("none/x"), folder_.path().generic_string(), std::string()}) {
            const ProgramResult result = run({option, path});
            EXPECT_TRUE(ends_with_code(result, 2));
            EXPECT_EQ(result.output, "") << option;
            EXPECT_NE(result.errors, "");
        }
    }
    const ProgramResult twice = run({"--json", folder_.at("x"), "--junit", folder_.at("x")});
    EXPECT_TRUE(ends_with_code(twice, 2));
    EXPECT_TRUE(complains(twice, "two outputs are to be written to"));
}

/// "-" writes the report, and nothing else, to the standard output. Messages for people go to the standard error.
TEST_F(Reports, OnTheStandardOutput) {
    ProgramOptions options;
    options.folder = folder_.path().string();
    const ProgramResult json = run({"--json", "-"}, options);
    EXPECT_TRUE(ends_with_code(json, 1));
    EXPECT_TRUE(complains(json, "1 pass, 1 fail"));
    const Json result = Json::parse(json.output, nullptr, false);
    ASSERT_TRUE(result.is_object()) << json.all();
    EXPECT_EQ(result["results"].size(), 4u);
    EXPECT_EQ(result["exitCode"], 1);

    const ProgramResult lines = run({"--jsonl", "-"}, options);
    EXPECT_EQ(std::count(lines.output.begin(), lines.output.end(), '\n'), 4) << lines.all();
    EXPECT_EQ(Json::parse(lines.output.substr(0, lines.output.find('\n')))["id"], "cases/good");

    EXPECT_TRUE(run({"--junit", "-"}, options).output.starts_with("<?xml"));
    EXPECT_TRUE(run({"--summary", "-"}, options).output.starts_with("#"));

    folder_.write("shard.json", run({"--shard", "1/1", "--json", "-"}, options).output);
    const ProgramResult merged = dmlconform({"merge", "shard.json", "--json", "-"}, options);
    EXPECT_EQ(Json::parse(merged.output, nullptr, false)["exitCode"], 1) << merged.all();

    const ProgramResult imported =
        dmlconform({"export", "dxdispatch", "cases.json", "--filter", "cases/alone", "-o", "-"}, options);
    EXPECT_TRUE(Json::parse(imported.output, nullptr, false).is_object()) << imported.all();
    EXPECT_FALSE(std::filesystem::exists(folder_.at("-")));
}

/// Commands and outputs of which one would replace another, or a file that the command reads.
TEST_F(Reports, EachOutputGetsAFileOfItsOwn) {
    const auto bench_file = [](int time) {
        return fmt::format(R"({{"context": {{}}, "benchmarks": [{{"name": "a", "run_name": "a", "run_type": "iteration",
            "iterations": 1, "real_time": {0}, "cpu_time": {0}, "time_unit": "us"}}]}})",
                           time);
    };
    folder_.write("old.json", bench_file(1));
    folder_.write("new.json", bench_file(2));
    folder_.write("folder/good.json", good_file());
    folder_.write("expect.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [] })");
    ProgramOptions options;
    options.folder = folder_.path().string();
    ASSERT_TRUE(ends_with_code(
        dmlconform({"run", "cases.json", "--engine", "cpu", "--shard", "1/1", "--json", "shard.json"}, options), 1));
    std::filesystem::create_symlink("cases.json", folder_.at("link.json"));
    constexpr const char* twice = "two outputs are to be written to ";
    constexpr const char* needed = "which this command needs";
    struct {
        std::vector<std::string> words;
        const char* error;
    } const wrong[] = {
        {{"run", "cases.json", "--json", "-", "--junit", "-"}, twice},
        {{"run", "cases.json", "--json", "-", "--github"}, "both need the standard output"},
        {{"run", "cases.json", "--json", "x.out", "--junit", "./x.out"}, twice},
        {{"run", "cases.json", "--json", "x.out", "--junit", folder_.at("x.out")}, twice},
        {{"run", "cases.json", "--json", "./cases.json"}, needed},
        {{"run", "cases.json", "--junit", "link.json"}, needed},
        {{"run", "folder", "--html", "folder/good.json"}, needed},
        {{"run", "cases.json", "--expect", "expect.json", "--json", "expect.json"}, needed},
        {{"run", "cases.json", "--engine", "cpu", "--record", "r.json", "--json", "r.json"}, needed},
        {{"fuzz", "SLICE1", "--count", "1", "--expect", "expect.json", "--json", "expect.json"}, needed},
        {{"bench", "cases.json", "--engine", "cpu", "--filter", "*", "--benchmark_out=cases.json"}, needed},
        {{"merge", "shard.json", "--json", "-", "--junit", "-"}, twice},
        {{"merge", "shard.json", "--json", "-", "--github"}, "both need the standard output"},
        {{"merge", "shard.json", "--json", "x.out", "--junit", "x.out"}, twice},
        {{"merge", "shard.json", "--json", "shard.json"}, needed},
        {{"report", "shard.json", "--html", "-", "--markdown", "-"}, twice},
        {{"report", "shard.json", "--html", "shard.json"}, needed},
        {{"diff", "shard.json", "shard.json", "--json", "shard.json"}, needed},
        {{"compare", "old.json", "new.json", "--json", "-", "--markdown", "-"}, twice},
        {{"compare", "old.json", "new.json", "--json", "old.json"}, needed},
    };
    const std::string before = content_of(file_);
    const std::string shard = content_of(folder_.at("shard.json"));
    for (const auto& [words, error] : wrong) {
        const ProgramResult result = dmlconform(words, options);
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, error));
        EXPECT_EQ(result.output, "");
    }
    EXPECT_EQ(content_of(file_), before);
    EXPECT_EQ(content_of(folder_.at("shard.json")), shard);
    EXPECT_FALSE(std::filesystem::exists(folder_.at("x.out")));
    // The failures that are left may replace those that were to be repeated.
    EXPECT_TRUE(
        ends_with_code(dmlconform({"run", "--rerun-failed", "shard.json", "--json", "shard.json"}, options), 1));
    // Devices take several outputs, one after another.
    EXPECT_TRUE(ends_with_code(run({"--json", "/dev/null", "--junit", "/dev/null"}), 1));
}

/// Only that report is lost.
TEST_F(Reports, APipeThatNobodyReads) {
    const std::string pipe = folder_.at("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    for (const char* option : {"--json", "--jsonl"}) {
        const std::string other = folder_.at("other.xml");
        std::filesystem::remove(other);
        ProgramOptions options;
        options.timeout = std::chrono::seconds(60);
        const ProgramResult result = run({option, pipe, "--junit", other}, options);
        EXPECT_TRUE(ends_with_code(result, 3));
        EXPECT_TRUE(complains(result, "pipe cannot be written"));
        EXPECT_TRUE(std::filesystem::exists(other)) << option;
    }
}

/// CI systems and test runners also name files in environment variables.
TEST_F(Reports, APipeOfTheEnvironmentThatNobodyReads) {
    const std::string pipe = folder_.at("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    ProgramOptions options;
    options.timeout = std::chrono::seconds(60);
    options.environment = {{"GITHUB_STEP_SUMMARY", pipe}};
    const ProgramResult summary = run({"--summary", pipe}, options);
    EXPECT_TRUE(ends_with_code(summary, 3));
    EXPECT_TRUE(complains(summary, "pipe cannot be written"));

    options.environment = {{"TEST_TOTAL_SHARDS", "2"}, {"TEST_SHARD_INDEX", "0"}, {"TEST_SHARD_STATUS_FILE", pipe}};
    const ProgramResult shard = run({}, options);
    EXPECT_TRUE(ends_with_code(shard, 2));
    EXPECT_TRUE(complains(shard, "the file by which a test runner sees that shards are known"));
}

TEST_F(Reports, AFullDiskLeavesTheResultsOnTheOutput) {
    if (!std::filesystem::exists("/dev/full")) {
        GTEST_SKIP() << "there is no /dev/full";
    }
    for (const char* option : {"--json", "--junit", "--summary", "--jsonl"}) {
        const std::string other = folder_.at("other.json");
        const bool json = std::string(option) == "--json";
        const ProgramResult result = run({option, "/dev/full", json ? "--junit" : "--json", other});
        EXPECT_TRUE(ends_with_code(result, 3));
        EXPECT_TRUE(complains(result, "/dev/full cannot be written: No space left on device"));
        EXPECT_TRUE(prints(result, "FAIL cases/bad on cpu"));
        EXPECT_TRUE(prints(result, "4 results in "));
        EXPECT_TRUE(std::filesystem::exists(other)) << "the other outputs go on";
    }
}

TEST_F(Reports, ADiskThatIsFullInMidRun) {
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += (i == 0 ? "" : ",\n") + slice_case(fmt::format("good{}", i), right_values);
    }
    file_ = folder_.write("many.json", "{ \"cases\": [" + text + "] }");
    const std::string path = folder_.at("out.json");
    // Limits files to 8 KiB; writing more fails as on a full disk.
    const ProgramResult result = run_program({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh",
                                              dmlconform_path(), "run", file_, "--engine", "cpu", "--json", path});
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_TRUE(complains(result, "out.json cannot be written: File too large"));
    EXPECT_TRUE(prints(result, "300 results in "));
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

}  // namespace
}  // namespace dmlconform::tests::reports_test

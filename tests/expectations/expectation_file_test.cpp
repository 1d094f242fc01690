// Tests of expectation files: valid contents, and messages with positions for invalid ones.
#include "engine/expectations/expectation_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/expectations/case_facts.h"
#include "tests/graph_builder.h"
#include "tests/temporary_folder.h"

namespace dmlconform::expectations::expectation_file_test {
namespace {

std::string file_of(std::string_view entries) {
    return fmt::format(
        "{{ \"format\": \"dmlconform-expectations\", \"formatVersion\": 1, \"expectations\": [\n{}\n] }}", entries);
}

/// The only problem of a file; several are joined.
std::string problem_of(const std::string& text) {
    std::string all;
    for (const cases::Problem& problem : read_expectations("e.json", text).problems) {
        all += (all.empty() ? "" : "\n") + cases::to_string(problem);
    }
    return all;
}

TEST(ExpectationFile, IsRead) {
    const auto read = read_expectations("dir/e.json", file_of(R"(// a comment
        { "cases": ["a/*", "b"], "engine": "d3d12", "adapter": "llvmpipe", "driver": ">=22.3 <24",
          "libraries": { "DirectML": "<1.16" }, "status": "crash", "reason": "because", "issue": "https://x/1",
          "expires": "2026-12-31" },
        { "cases": "c", "status": "flake", "retries": 5, "reason": "slow" } /* another */)"));
    ASSERT_EQ(read.problems.size(), 0u);
    ASSERT_EQ(read.expectations.size(), 2u);
    const Expectation& first = read.expectations[0];
    EXPECT_EQ(first.cases, (std::vector<std::string>{"a/*", "b"}));
    EXPECT_EQ(first.engine, "d3d12");
    EXPECT_EQ(first.expected, Expected::crash);
    EXPECT_EQ(first.reason, "because");
    EXPECT_EQ(first.issue, "https://x/1");
    EXPECT_EQ(first.location(), "dir/e.json:3");
    ASSERT_TRUE(first.expires);
    EXPECT_EQ(to_string(*first.expires), "2026-12-31");
    const Expectation& second = read.expectations[1];
    EXPECT_EQ(second.engine, "*");
    EXPECT_EQ(second.expected, Expected::flake);
    EXPECT_EQ(second.retries, 5u);
    EXPECT_FALSE(second.expires);
    EXPECT_TRUE(read_expectations("e.json", file_of("")).problems.empty());
}

TEST(ExpectationFile, ProblemsHavePositions) {
    const std::string required = R"("cases": "a", "status": "fail", "reason": "r")";
    const std::pair<std::string, std::string> cases[] = {
        {"[]", "e.json:1:1: error: a file of expectations must be an object; this is an array"},
        {R"({ "cases": [] })",
         "e.json:1:1: error: a file of expectations needs \"format\": \"dmlconform-expectations\"\n    hint: is this a "
         "case file?"},
        {R"({ "format": "dmlconform-expectations", "expectations": [] })",
         "e.json:1:1: error: a file of expectations needs \"formatVersion\": 1"},
        {R"({ "format": "dmlconform-expectations", "formatVersion": 2, "expectations": [] })",
         "e.json:1:57: error: this program reads version 1 of the format; this is version 2 (at /formatVersion)"},
        {R"({ "format": "dmlconform-expectations", "formatVersion": 1 })",
         "e.json:1:1: error: a file of expectations needs \"expectations\": an array, which may be empty"},
        {R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [], "x": 1 })",
         "e.json:1:80: error: unknown key \"x\" in a file of expectations (at /x)"},
        {file_of("7"), "e.json:2:1: error: an expectation must be an object; this is a number (at /expectations/0)"},
        {file_of(R"({ "cases": "a", "status": "fail" })"),
         "e.json:2:1: error: an expectation needs \"reason\" (at /expectations/0)"},
        {file_of(R"({ "status": "fail", "reason": "r" })"),
         "e.json:2:1: error: an expectation needs \"cases\": a case's id, a glob for several, or a list of these (at "
         "/expectations/0)\n    hint: or \"operators\", with \"when\" to say which descriptors"},
        {file_of(R"({ "operators": "CATS", "status": "fail", "reason": "r" })"),
         "e.json:2:16: error: no operator is called \"CATS\" (at /expectations/0/operators)\n    hint: did you mean "
         "`CAST`?"},
        {file_of(R"({ "operators": [], "status": "fail", "reason": "r" })"),
         "e.json:2:16: error: an expectation needs \"operators\": an operator's name, a glob for several, or a list of "
         "these (at /expectations/0/operators)"},
        {file_of(R"({ "operators": "CAST", "when": { "Axes": 1 }, "status": "fail", "reason": "r" })"),
         "e.json:2:34: error: no operator of this entry has a field \"Axes\" (at /expectations/0/when/Axes)"},
        {file_of("{ " + required + R"(, "happens": "often" })"),
         "e.json:2:61: error: there is no \"happens\" \"often\" (at /expectations/0/happens)\n    hint: it may be "
         "rejected, accepted, differs, precision, unwritten"},
        {file_of(R"({ "operators": "GEMM", "status": "fail", "reason": "r", "elements": { "ATensor": 0 } })"),
         "e.json:2:69: error: \"elements\" of inputs are for operators that compute each element from those at its "
         "position (at "
         "/expectations/0/elements)\n    hint: \"expected\" and \"actual\" are for every operator, and "
         "\"timesTolerance\" says how far any element may be off"},
        {file_of(R"({ "operators": ["REDUCE", "ELEMENT_WISE_ABS"], "status": "fail", "reason": "r",
            "elements": { "InputTensor": 0 } })"),
         "e.json:3:25: error: REDUCE does not compute each element from those at its position, so that \"elements\" "
         "means nothing there (at /expectations/0/elements)"},
        {file_of(
             R"({ "operators": "ACTIVATION_SOFTMAX", "status": "fail", "reason": "r", "elements": { "InputTensor": 0 } })"),
         "e.json:2:83: error: \"elements\" of inputs are for operators that compute each element from those at its "
         "position (at "
         "/expectations/0/elements)\n    hint: \"expected\" and \"actual\" are for every operator, and "
         "\"timesTolerance\" says how far any element may be off"},
        {file_of("{ " + required + R"(, "elements": { "InputTensor": 0 }, "happens": "rejected" })"),
         "e.json:2:95: error: \"elements\" are about what \"differs\" (at /expectations/0/happens)"},
        {file_of("{ " + required + R"(, "elements": { "InputTensor": 0 }, "sometimes": false })"),
         "e.json:2:97: error: with \"elements\", \"sometimes\" is always true (at /expectations/0/sometimes)"},
        {file_of("{ " + required + R"(, "driver": ">=1 <0" })"),
         "e.json:2:60: error: \"driver\": no version is \">=1 <0\" (at /expectations/0/driver)\n    hint: the bounds "
         "contradict each other"},
        {file_of(R"({ "cases": "a", "status": "error", "reason": "r", "happens": "rejected" })"),
         "e.json:2:62: error: only a \"fail\" has \"happens\" (at /expectations/0/happens)\n    hint: an \"error\" has "
         "\"accepted\" too"},
        {file_of(R"({ "cases": "a", "status": "error", "reason": "r", "elements": { "InputTensor": 0 } })"),
         "e.json:2:63: error: only a \"fail\" has \"elements\" that differ (at /expectations/0/elements)"},
        {file_of("{ " + required + R"(, "sometimes": 1 })"),
         "e.json:2:63: error: \"sometimes\" must be true or false; this is a number (at /expectations/0/sometimes)"},
        {file_of("{ " + required + R"(, "timesTolerance": 4 })"),
         "e.json:2:68: error: only what \"differs\", or its \"precision\", has \"timesTolerance\" (at "
         "/expectations/0/timesTolerance)"},
        {file_of(R"({ "cases": [], "status": "fail", "reason": "r" })"),
         "e.json:2:12: error: an expectation needs \"cases\": a case's id, a glob for several, or a list of these (at "
         "/expectations/0/cases)\n    hint: or \"operators\", with \"when\" to say which descriptors"},
        {file_of(R"({ "cases": [1], "status": "fail", "reason": "r" })"),
         "e.json:2:13: error: a case's id must be a string; this is a number (at /expectations/0/cases/0)"},
        {file_of(R"({ "cases": "a", "status": "fial", "reason": "r" })"),
         "e.json:2:27: error: there is no status \"fial\" (at /expectations/0/status)\n    hint: did you mean `fail`?"},
        {file_of(R"({ "cases": "a", "status": "fail", "reason": " " })"),
         "e.json:2:45: error: \"reason\" is empty (at /expectations/0/reason)"},
        {file_of("{ " + required + R"(, "drivre": "1" })"),
         "e.json:2:50: error: unknown key \"drivre\" in an expectation (at /expectations/0/drivre)\n    hint: did you "
         "mean `driver`?"},
        {file_of("{ " + required + R"(, "driver": "new" })"),
         "e.json:2:60: error: \"driver\": \"new\" is not a version (at /expectations/0/driver)\n    hint: a range is "
         "\">=22.3 <24.1\", for example, or \"22.3\" for 22.3 and all 22.3.x"},
        {file_of("{ " + required + R"(, "driver": 22.3 })"),
         "e.json:2:60: error: \"driver\" must be a string; this is a number (at /expectations/0/driver)"},
        {file_of("{ " + required + R"(, "expires": "2026-02-30" })"),
         "e.json:2:61: error: \"2026-02-30\" is not a day (at /expectations/0/expires)\n    hint: the last day on "
         "which the expectation counts, as 2026-12-31"},
        {file_of("{ " + required + R"(, "retries": 1 })"),
         "e.json:2:61: error: only a flake has \"retries\" (at /expectations/0/retries)"},
        {file_of(R"({ "cases": "a", "status": "flake", "reason": "r", "retries": 0 })"),
         "e.json:2:62: error: a flake that is never tried again fails (at /expectations/0/retries)\n    hint: leave "
         "\"retries\" out, or write 1"},
    };
    for (const auto& [text, problem] : cases) {
        EXPECT_EQ(problem_of(text), problem) << text;
    }
    EXPECT_NE(problem_of("{").find("e.json:1:2: error: not valid JSON"), std::string::npos) << problem_of("{");
    EXPECT_NE(problem_of(file_of(R"({ "cases": "a", "status": "flake", "reason": "r", "retries": 101 })")), "");
}

TEST(ExpectationFile, MeansGraphsByTheirOperator) {
    const auto graph = tests::graph_of(
        {tests::unary("relu", "ACTIVATION_RELU", tests::tensor(core::DataType::float32, {2}), "x", "y")}, {"y"});
    const cases::Case subject = [&] {
        cases::Case made;
        made.id = "a/net";
        made.descriptor = graph;
        return made;
    }();
    for (const auto& [operators, is_meant] : {std::pair(R"("GRAPH")", true),
                                              {R"(["GRAPH", "ACTIVATION_RELU"])", true},
                                              {R"("*")", true},
                                              {R"("ACTIVATION_RELU")", false}}) {
        const std::string text =
            file_of(fmt::format(R"({{ "operators": {}, "status": "fail", "reason": "r" }})", operators));
        EXPECT_EQ(problem_of(text), "");
        const auto read = read_expectations("e.json", text);
        ASSERT_EQ(read.expectations.size(), 1U) << operators;
        CaseFacts facts(subject);
        EXPECT_EQ(read.expectations[0].meets("a/net", facts), is_meant) << operators;
    }
    EXPECT_EQ(
        problem_of(file_of(R"({ "operators": "GRAPH", "when": { "Axis": 1 }, "status": "fail", "reason": "r" })")),
        "e.json:2:33: error: a graph has no fields of its own for a condition (at /expectations/0/when)\n    "
        "hint: \"someNode\" is about its nodes, and \"cases\" chooses graphs by their ids");
}

TEST(ExpectationFile, IsLookedForOnTheDisk) {
    const tests::TemporaryFolder folder;
    EXPECT_TRUE(load_expectations(folder.write("e.json", file_of(""))).problems.empty());
    for (const std::string& path : {folder.at("none.json"), folder.path().generic_string()}) {
        const auto read = load_expectations(path);
        ASSERT_EQ(read.problems.size(), 1u);
        EXPECT_EQ(read.problems[0].file, path);
    }
}

TEST(Expectation, ConcernsEngines) {
    EngineInfo engine;
    engine.name = "d3d12";
    engine.adapter = "llvmpipe (LLVM 15.0.6, 256 bits)";
    engine.driver = "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)";
    engine.libraries = {{"vkd3d", "1.2"}};
    const std::pair<const char*, bool> cases[] = {
        {"", true},
        {R"(, "engine": "d3d12")", true},
        {R"(, "engine": "d3*")", true},
        {R"(, "engine": "cpu")", false},
        {R"(, "adapter": "LLVMpipe")", true},
        {R"(, "adapter": "llvm*256")", true},
        {R"(, "adapter": "NVIDIA")", false},
        {R"(, "driver": ">=22.3 <23")", true},
        {R"(, "driver": ">=23")", false},
        {R"(, "libraries": { "vkd3d": "1.2" })", true},
        {R"(, "libraries": { "vkd3d": ">1.2" })", false},
        {R"(, "libraries": { "DirectML": ">1" })", false},
        {R"(, "engine": "d3d12", "adapter": "llvmpipe", "driver": "21")", false},
    };
    for (const auto& [members, concerns] : cases) {
        const auto read = read_expectations(
            "e.json", file_of(fmt::format(R"({{ "cases": "a", "status": "fail", "reason": "r"{} }})", members)));
        ASSERT_EQ(read.expectations.size(), 1u) << members;
        EXPECT_EQ(read.expectations[0].concerns(engine), concerns) << members;
    }
    engine.driver = "";
    EXPECT_FALSE(
        read_expectations("e.json", file_of(R"({ "cases": "a", "status": "fail", "reason": "r", "driver": ">0" })"))
            .expectations.at(0)
            .concerns(engine));
}

TEST(Expectation, CountsThroughItsLastDay) {
    Expectation entry;
    entry.expires = parse_date("2026-12-31");
    EXPECT_FALSE(entry.expired(*parse_date("2026-12-31")));
    EXPECT_TRUE(entry.expired(*parse_date("2027-01-01")));
    for (const char* text : {"2026-13-01", "2026-00-10", "2026-1-1", "20261231", "2026-12-31T00", "abcd-ef-gh", "",
                             "2026-+1-01", "2025-02-29"}) {
        EXPECT_FALSE(parse_date(text)) << text;
    }
    EXPECT_TRUE(parse_date("2024-02-29"));
}

}  // namespace
}  // namespace dmlconform::expectations::expectation_file_test

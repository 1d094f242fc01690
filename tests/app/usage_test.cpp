// Tests of the command line: exit codes of misuse, hints, help.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::usage_test {
namespace {

struct Row {
    std::vector<std::string> words;
    std::string_view error;
    std::string_view hint;
};

class Usage : public testing::Test {
protected:
    TemporaryFolder folder_;
    std::string good_ = folder_.write("good.json", good_file());
};

TEST_F(Usage, MistakesOnTheCommandLine) {
    const Row rows[] = {
        {{"rnu", good_}, R"(there is no command "rnu")", "did you mean `run`?"},
        {{"frobnicate"}, R"(there is no command "frobnicate")", "`dmlconform --help` lists commands"},
        {{good_}, "there is no command", "--help"},
        {{"run"}, "paths is required", "`dmlconform run --help`"},
        {{"list"}, "paths is required", "`dmlconform list --help`"},
        {{"validate"}, "paths is required", "`dmlconform validate --help`"},
        {{"run", good_, "--jsno", "x"}, "--jsno", "did you mean `--json`?"},
        {{"run", good_, "--fliter=x"}, "--fliter", "did you mean `--filter`?"},
        {{"run", good_, "--qiuet"}, "--qiuet", "did you mean `--quiet`?"},
        {{"run", good_, "-z"}, "-z", "`dmlconform run --help`"},
        {{"run", good_, "--filter"}, "--filter", "--help"},
        {{"run", good_, "--tag"}, "--tag", "--help"},
        {{"run", good_, "--engine"}, "--engine", "--help"},
        {{"run", good_, "--json"}, "--json", "--help"},
        {{"run", good_, "--json", ""}, "the path is empty", ""},
        {{"run", good_, "--rerun-failed", ""}, "the path is empty", ""},
        {{"run", good_, "--durations", ""}, "the path is empty", ""},
        {{"run", good_, "--expect", ""}, "the path is empty", ""},
        {{"run", good_, "--bundle", ""}, "the path is empty", ""},
        {{"judge", good_, "--outputs", ""}, "the path is empty", ""},
        {{"export", "raw", good_, "-o", ""}, "the path is empty", ""},
        {{"export", "onnx", good_, "-o", ""}, "the path is empty", ""},
        {{"diff", good_, good_, "--json", ""}, "the path is empty", ""},
        {{"compare", good_, good_, "--json", ""}, "the path is empty", ""},
        {{"report", good_, "--html", ""}, "the path is empty", ""},
        {{"merge", ""}, "the path is empty", ""},
        {{"export", "onnx", good_, "--opse", "13"}, "--opse", "did you mean `--opset`?"},
        {{"export", "onnx", good_, "--zzz"}, "--zzz", "`dmlconform export onnx --help` lists them"},
        {{"import", "foo"}, R"(`dmlconform import` has no command "foo")", "`dmlconform import --help` lists commands"},
        {{"export", "onxn"}, R"(`dmlconform export` has no command "onxn")", "did you mean `onnx`?"},
        {{"export"}, "subcommand is required", "`dmlconform export --help` lists commands"},
        {{"export", "--hlep"}, "", "did you mean `--help`?"},
        {{"run", good_, "--quiet", "--verbose"}, "excludes", ""},
        {{"run", good_, "--engine", "cpux"}, R"(there is no engine "cpux")", "engines are cpu, d3d12"},
        {{"run", good_, "--engine", "CPU"}, R"(there is no engine "CPU")", "engines are cpu, d3d12"},
        {{"run", good_, "--engine", ""}, R"(there is no engine "")", "engines are"},
        {{"run", good_, "--engine", "cpu,d3d12"}, R"(there is no engine "cpu,d3d12")", "engines are"},
        {{"run", good_, "--engine", "cpu", "--engine", "gpu"}, R"(there is no engine "gpu")", "engines are"},
        {{"run", good_, "--feature-level", "9.9"}, "--feature-level", ""},
        {{"run", good_, "--filter", "good"},
         "the only case does not have the id or tags asked for",
         "did you mean `*good*`?"},
        {{"run", good_, "--filter", ""}, "the only case does not have", "a filter matches the whole id"},
        {{"run", good_, "--filter", "nothing*"}, "the only case does not have", "`dmlconform list` shows ids"},
        {{"run", good_, "--tag", ""}, "the only case does not have", R"(no case has the tag "")"},
        {{"run", good_, "--tag", "doc"}, "the only case does not have", R"(no case has the tag "doc"; they have none)"},
        {{"list", good_, "--filter", "x/*"}, "the only case does not have", ""},
        {{"run", folder_.at("nowhere.json")}, "nowhere.json: error: there is no such file or folder", ""},
        {{"run", folder_.at("god.json")},
         "god.json: error: there is no such file or folder",
         "did you mean `good.json`?"},
        {{"run", good_, "--filter", "*/goo"}, "the only case does not have", "did you mean `*/goo*`?"},
        {{"run", good_, folder_.at("nowhere")}, "nowhere: error: there is no such file or folder", ""},
        {{"run", ""}, "\"\": error: there is no such file or folder", ""},
        {{"run", "/dev/null"}, "/dev/null: error: this is neither a file nor a folder", ""},
        {{"run", good_, "--json", folder_.at("no/such/folder.json")},
         "cannot be written: No such file or directory",
         "does the folder exist"},
        {{"run", good_, "--json", folder_.path().string()}, "cannot be written: it is a folder", ""},
        {{"describe", "SLICES"}, R"(the catalogue has no operator "SLICES")", "did you mean `SLICE`?"},
        {{"describe", "DML_OPERATOR_TOP_K2"},
         R"(the catalogue has no operator "DML_OPERATOR_TOP_K2")",
         "did you mean `DML_OPERATOR_TOP_K"},
        {{"describe", "NONSENSE"}, "the catalogue has no operator", "`dmlconform describe` lists them"},
        {{"describe", "SLICE1", "TOP_K9"}, "TOP_K9", "did you mean"},
        {{"describe", "SLICE1", "--table"}, "--table", ""},
        {{"describe", "--cases", "cases"}, "--table", ""},
        {{"describe", "--json", "--rules"}, "excludes", ""},
        {{"describe", "--json", "--graph"}, "excludes", ""},
        {{"adapters", "extra"}, "extra", ""},
        {{"--vresion"}, "", "did you mean `--version`?"},
        {{"--frobnicate"}, "", "`dmlconform --help` lists commands"},
        {{""}, R"(there is no command "")", ""},
    };
    for (const Row& row : rows) {
        const ProgramResult result = dmlconform(row.words);
        SCOPED_TRACE(fmt::format("{}", fmt::join(row.words, " ")));
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, row.error));
        EXPECT_TRUE(complains(result, row.hint));
        EXPECT_EQ(result.output, "") << "results go to stdout, and there are none";
    }
}

TEST_F(Usage, TagsThatAreMistypedAreGuessed) {
    folder_.write("tagged.json", file_of({slice_case("a", R"(, "tags": ["smoke", "doc"])")}));
    const auto hint = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"list", folder_.at("tagged.json")});
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 2));
        return result.errors.substr(result.errors.find("hint: ") + 6);
    };
    EXPECT_EQ(hint({"--tag", "smkoe"}), "no case has the tag \"smkoe\"; did you mean `smoke`?\n");
    EXPECT_EQ(hint({"--tag", "elephant"}), "no case has the tag \"elephant\"; there are doc, smoke\n");
    EXPECT_EQ(hint({"--tag", "doc", "--filter", "tagged/b"}), "did you mean `tagged/a`?\n");
}

TEST_F(Usage, WithoutArgumentsThereIsHelp) {
    const ProgramResult result = dmlconform({});
    EXPECT_TRUE(ends_with_code(result, 2));
    EXPECT_TRUE(complains(result, "dmlconform [OPTIONS] SUBCOMMAND"))
        << "some versions of CLI11 have no \"Usage:\" before";
}

TEST_F(Usage, Help) {
    for (const auto& [words, texts] : std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
             {{"--help"}, {"run", "list", "adapters", "describe", "validate", "--version", "Exit codes: 0", "2 usage"}},
             {{"-h"}, {"dmlconform [OPTIONS] SUBCOMMAND"}},
             {{"run", "--help"},
              {"Options that most people need:", "PATH", "--engine", "--filter", "--json", "--verbose",
               " more options: dmlconform run --help-all"}},
             {{"run", "--help-all"},
              {"Options that most people need:", "\nCases:", "\nEngines:", "\nReports:", "\nOrder and limits:", "PATH",
               "--filter", "--tag", "--engine", "cpu, d3d12", "--adapter", "--json", "--quiet", "--verbose",
               "--no-color", "NO_COLOR", "--feature-level", "--include-unspecified", "--allow-external-data"}},
             {{"list", "--help"}, {"PATH", "--filter", "--tag", "--json"}},
             {{"validate", "--help"}, {"PATH", "--feature-level"}},
             {{"describe", "--help"}, {"OPERATOR"}},
             {{"adapters", "--help"}, {"adapters"}}}) {
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_EQ(result.errors, "");
        for (const std::string& text : texts) {
            EXPECT_TRUE(prints(result, text));
        }
        EXPECT_TRUE(result.output.ends_with("\n"));
    }
}

/// Commands with many options show about ten, and all of them under headings on request.
TEST_F(Usage, ShortHelpAndAllOptions) {
    for (const char* command : {"run", "judge", "bench", "fuzz", "reduce", "compare"}) {
        SCOPED_TRACE(command);
        const std::string brief = dmlconform({command, "--help"}).output;
        const std::string all = dmlconform({command, "--help-all"}).output;
        EXPECT_LE(occurrences(brief, "\n  -"), 12u) << brief;
        EXPECT_EQ(brief.find("Excludes: \n"), std::string::npos) << brief;
        EXPECT_EQ(brief.find("Excludes:  "), std::string::npos) << brief;
        EXPECT_GT(occurrences(all, "\n  -"), 12u) << all;
        EXPECT_EQ(all.find("Other options:"), std::string::npos) << "an option has no heading\n" << all;
        EXPECT_EQ(all.find("--help-all\n"), std::string::npos) << all;
    }
    // Others have too few options for that: their help has all of them.
    const std::vector<std::vector<std::string>> brief{{}, {"diff"}, {"merge"}, {"validate"}, {"export", "onnx"}};
    for (std::vector<std::string> command : brief) {
        command.emplace_back("--help");
        const ProgramResult help = dmlconform(command);
        command.back() = "--help-all";
        const ProgramResult all = dmlconform(command);
        EXPECT_TRUE(ends_with_code(all, 0));
        EXPECT_EQ(all.output, help.output);
    }
    EXPECT_EQ(dmlconform({"run", "-h"}).output, dmlconform({"run", "--help"}).output);
}

TEST_F(Usage, Version) {
    const ProgramResult result = dmlconform({"--version"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(result.output.starts_with("dmlconform 0.")) << result.output;
    for (const char* library : {"CLI11 ", "nlohmann-json ", "fmt ", "tl-expected "}) {
        EXPECT_TRUE(prints(result, library));
    }
    EXPECT_TRUE(result.output.ends_with("\n"));
}

struct FileRow {
    const char* what;
    std::string text;
    std::string_view error;  // the text after "FILE:"
};

TEST_F(Usage, MalformedFiles) {
    using namespace std::string_literals;
    const std::string good = slice_case("a", right_values);
    std::string deep;
    for (int i = 0; i < 100000; ++i) {
        deep += "[";
    }
    const FileRow rows[] = {
        {"empty", "", "1:1: error: not valid JSON"},
        {"not JSON", "cases: []", "1:1: error: not valid JSON"},
        {"truncated", "{ \"cases\": [\n" + good, "5:"},
        {"trailing comma", "{ \"cases\": [\n" + good + ",\n] }", "6:1: error: not valid JSON"},
        {"two documents", good_file() + good_file(), "7:1: error: not valid JSON"},
        {"UTF-16", "\xFF\xFE{\0}\0"s, "1:4: error: not valid JSON: a NUL byte"},
        {"Latin-1", "{ \"description\": \"gr\xFC\xDF\", \"cases\": [" + good + "] }", "1:21: error: not valid JSON"},
        {"binary", "\x7F"s + "ELF\x02\x01\x01\0\0"s, "1:8: error: not valid JSON: a NUL byte"},
        {"nested too deeply", deep, "1:65: error: more than 64 levels of nesting"},
        {"an array", "[" + good + "]", "1:1: error: a case file must be an object; this is an array"},
        {"no cases", "{}", "1:1: error: a case file needs \"cases\""},
        {"no case", R"({"cases": []})",
         "1:11: error: a case file needs \"cases\": an array of at least one case (at /cases)"},
        {"a misspelt key", R"({"csaes": [)" + good + "]}",
         R"(1:2: error: unknown key "csaes" in a case file (at /csaes))"},
        {"a key twice", R"({"cases": [], "cases": []})", R"(1:15: error: the key "cases" occurs twice)"},
        {"a huge number", R"({"cases": [1e400]})", "1:12: error: not valid JSON"},
        {"a misspelt field", file_of({R"({"name": "a", "operator": "TOP_K1", "desc": {"Axes": 0}})"}),
         R"(2:46: error: unknown key "Axes" in DML_OPERATOR_TOP_K1 (at /cases/0/desc/Axes))"},
        {"an unknown operator", file_of({R"({"name": "a", "operator": "TOPK", "desc": {}})"}),
         R"(2:27: error: the catalogue has no operator "TOPK" (at /cases/0/operator))"},
        {"a name twice", file_of({good, good}), R"(6:11: error: another case is called)"},
        {"an element too many", file_of({slice_case("a", R"(, "expected": { "OutputTensor": [1, 3, 5] })")}),
         "5:78: error: 3 elements for [2] (at /cases/0/expected/OutputTensor)"},
    };
    for (const FileRow& row : rows) {
        SCOPED_TRACE(row.what);
        const std::string file = folder_.write("bad.json", row.text);
        for (const char* command : {"run", "list", "validate"}) {
            const ProgramResult result = dmlconform({command, good_, file});
            EXPECT_TRUE(ends_with_code(result, 2));
            EXPECT_TRUE(complains(result, fmt::format("{}:{}", file, row.error)));
            EXPECT_TRUE(complains(result, "in the input; nothing was run"));
            EXPECT_EQ(result.output, "") << "nothing is run when any file is wrong";
        }
    }
}

TEST_F(Usage, ProblemsOfAllFilesAreReportedBeforeAnythingRuns) {
    const std::string one = folder_.write("1.json", "{");
    const std::string two = folder_.write("2.json", R"({"cases": [{"name": "a b"}, {"name": "c d"}]})");
    const ProgramResult result = dmlconform({"run", folder_.path().string(), "--json", folder_.at("result.json")});
    EXPECT_TRUE(ends_with_code(result, 2));
    EXPECT_TRUE(complains(result, one + ":1:2: error: "));
    EXPECT_TRUE(complains(
        result, two + ":1:21: error: \"a b\" is not a name for a case (at /cases/0/name)\n    hint: letters"));
    EXPECT_TRUE(complains(result, two + ":1:38: error: \"c d\""));
    EXPECT_TRUE(complains(result, "dmlconform: 7 problems in the input; nothing was run\n"));
    EXPECT_FALSE(std::filesystem::exists(folder_.at("result.json")));
}

TEST_F(Usage, AMissingFileIsNoReasonToStopReadingOthers) {
    const ProgramResult result = dmlconform({"run", folder_.at("x"), good_, folder_.at("y")});
    EXPECT_TRUE(ends_with_code(result, 2));
    EXPECT_TRUE(complains(result, folder_.at("x") + ": error:"));
    EXPECT_TRUE(complains(result, folder_.at("y") + ": error:"));
    EXPECT_TRUE(complains(result, "2 problems"));
}

}  // namespace
}  // namespace dmlconform::tests::usage_test

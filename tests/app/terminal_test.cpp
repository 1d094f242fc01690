// Tests the output of a run on a terminal of 80 columns, also with many failures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::terminal_test {
namespace {

/// The number of characters, without colour codes.
std::size_t width_of(const std::string& line) {
    std::size_t width = 0;
    bool escape = false;
    for (const char c : line) {
        escape = escape || c == '\x1b';
        width += escape || (static_cast<unsigned char>(c) & 0xc0u) == 0x80u || c == '\r' ? 0 : 1;
        escape = escape && c != 'm' && c != 'K';
    }
    return width;
}

TEST(Terminal, HelpIsWrappedAndHasACommand) {
    EXPECT_EQ(dmlconform({"help", "compare"}).output, dmlconform({"compare", "--help"}).output);
    EXPECT_EQ(dmlconform({"help", "history", "show"}).output, dmlconform({"history", "show", "--help"}).output);
    EXPECT_EQ(dmlconform({"help"}).output, dmlconform({"--help"}).output);
    EXPECT_TRUE(ends_with_code(dmlconform({"help", "nothing"}), 2));
    if (!has_terminals()) {
        GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    ProgramOptions terminal;
    terminal.terminal_for_output = true;
    for (const char* command : {"run", "bench", "compare", "fuzz"}) {
        std::istringstream lines(dmlconform({command, "--help"}, terminal).output);
        for (std::string line; std::getline(lines, line);) {
            // An option and its values may be longer than a line, its description may not.
            EXPECT_TRUE(width_of(line) <= 80 || line.starts_with("  -")) << command << ": " << line;
        }
    }
}

TEST(Terminal, TablesFit80Columns) {
    if (!has_terminals()) {
        GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    const TemporaryFolder folder;
    // Many statuses, long names of operators, and an engine with a long name.
    const std::string file =
        folder.write("a.json", file_of({slice_case("good", right_values), slice_case("bad", wrong_values),
                                        slice_case("bare", ""), convolution_case("conv", 2, 8, 2, 3)}));
    const std::string engine = changed_worker(folder, R"(right = worker.answer
def answer(request, programs):
    reply = right(request, programs)
    return {**reply, "name": "a-name-as-long-as-few-engines-have"} if request["request"] == "info" else reply
worker.answer = answer)");
    const std::vector<std::string> words{"run", file, "--engine", "cpu", "--engine", engine, "--no-color", "-q"};
    const ProgramResult narrow = dmlconform(words, {.terminal_for_output = true});
    EXPECT_TRUE(ends_with_code(narrow, 1));
    const std::size_t table = narrow.output.find("operator");
    ASSERT_NE(table, std::string::npos) << narrow.all();
    std::istringstream lines(narrow.output.substr(table));
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line) && line.size() > 1; ++rows) {
        EXPECT_LE(width_of(line), 80u) << line;
    }
    EXPECT_EQ(rows, 7u) << narrow.output;
    EXPECT_TRUE(prints(narrow, "QUANTIZED_L…")) << "names are shortened at their ends";
    const ProgramResult wide = dmlconform(words);
    EXPECT_TRUE(prints(wide, "QUANTIZED_LINEAR_CONVOLUTION  exec:a-name-as-long-as-few-engines-have "))
        << "a file has room for everything";
    EXPECT_EQ(wide.output.find("crash"), std::string::npos) << "nothing crashed, so that there is no such column";
}

TEST(Terminal, ADumbOneGetsNoCommands) {
    if (!has_terminals()) {
        GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", bad_file());
    const std::vector<std::vector<std::string>> commands{
        {"run", file, "--engine", "cpu"},
        {"fuzz", "SLICE1", "--engine", "cpu", "--time", "0.5"},
        {"bench", "SLICE1", "--sizes", "8", "--engine", "cpu", "--no-roofline", "--benchmark_min_time=0.01"}};
    ProgramOptions options;
    options.terminal_for_output = true;
    options.terminal_for_errors = true;
    for (const std::vector<std::string>& command : commands) {
        options.environment = {{"TERM", "xterm"}};
        EXPECT_NE(dmlconform(command, options).all().find('\x1b'), std::string::npos) << command.front();
        options.environment = {{"TERM", "dumb"}};
        const ProgramResult dumb = dmlconform(command, options);
        EXPECT_EQ(dumb.all().find('\x1b'), std::string::npos) << dumb.all();
    }
}

TEST(Terminal, ManyFailuresOfOneCause) {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 15; ++i) {
        text += (i == 0 ? "" : ",\n") + slice_case(fmt::format("bad{}", i), wrong_values);
    }
    const std::string file = folder.write("a.json", "{ \"cases\": [" + text + "] }");
    const ProgramResult result = dmlconform({"run", file, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_EQ(occurrences(result.output, "FAIL a/bad"), 10u);
    EXPECT_EQ(occurrences(result.output, "fail      a/bad"), 5u);
    EXPECT_TRUE(prints(
        result, "Failures by cause:\n     15 fail on cpu: the output differs beyond tolerance (FLOAT32): SLICE1 15\n"));
    EXPECT_EQ(occurrences(dmlconform({"run", file, "--engine", "cpu", "-v"}).output, "FAIL a/bad"), 15u);
}

TEST(Terminal, FailuresOffTheGateAreNamed) {
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "a.json", file_of({slice_case("good", right_values),
                           slice_case("odd", R"(, "expected": { "OutputTensor": [1, 4] }, "tags": ["unspecified"])")}));
    const ProgramResult result = dmlconform({"run", file, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "no source says what is right (tag `unspecified`): 1 fail\n  failed: a/odd on cpu\n"));
}

}  // namespace
}  // namespace dmlconform::tests::terminal_test

// Tests the command that a failure prints for running just that case again: run in a shell, it shows just that failure.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::rerun_test {
namespace {

/// The blocks of failures, from "FAIL" to the line with the command, without times.
std::vector<std::string> failures_in(const std::string& output) {
    std::vector<std::string> blocks;
    for (std::size_t at = output.find("FAIL "); at != std::string::npos; at = output.find("FAIL ", at + 1)) {
        const std::size_t command = output.find("  run again   ", at);
        std::string block = output.substr(at, output.find("\n\n", command) - at);
        // Notes that compare several engines are missing when a single one runs.
        if (const std::size_t note = block.find("  note "); note != std::string::npos) {
            block.erase(note, block.find('\n', note) + 1 - note);
        }
        blocks.push_back(std::move(block));
    }
    return blocks;
}

std::string command_of(const std::string& block) {
    const std::string_view label = "  run again   ";
    return block.substr(block.find(label) + label.size());
}

/// Runs all cases, then repeats each failure by the printed command in bash, because not every /bin/sh knows $'…'.
void expect_reproduction(const std::vector<std::string>& words, std::size_t failures,
                         const ProgramOptions& options = {}) {
    const ProgramResult first = dmlconform(words, options);
    EXPECT_TRUE(ends_with_code(first, 1));
    const auto blocks = failures_in(first.output);
    EXPECT_EQ(blocks.size(), failures) << first.all();
    for (const std::string& block : blocks) {
        const ProgramResult again = run_program({"/bin/bash", "-c", command_of(block)}, options);
        EXPECT_TRUE(ends_with_code(again, 1)) << command_of(block);
        EXPECT_EQ(failures_in(again.output), std::vector<std::string>{block}) << again.all();
        EXPECT_TRUE(prints(again, "1 case on 1 engine\n"));
        EXPECT_EQ(again.errors, "");
    }
}

TEST(Rerun, OnEveryEngine) {
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "a.json",
        file_of({slice_case("x", wrong_values), slice_case("good", right_values), slice_case("x/y", wrong_values)}));
    std::vector<std::string> words{"run", file};
    for (const std::string& engine : usable_engines()) {
        words.insert(words.end(), {"--engine", engine});
    }
    expect_reproduction(words, 2 * usable_engines().size());
}

TEST(Rerun, WithPathsThatAShellWouldTakeApart) {
    const TemporaryFolder folder;
    for (const char* name : {"with space", "it's", "$HOME", "`date`", "a;b", "a&b", "a|b", "(x)", "[x]", "#x", "~",
                             "\"q\"", "\\", "ü", "{a,b}", "!x", "new\nline"}) {
        folder.write(fmt::format("odd folder/{}.json", name), file_of({slice_case("x", wrong_values)}));
    }
    expect_reproduction({"run", folder.at("odd folder"), "--engine", "cpu", "--verbose"}, 17);
}

TEST(Rerun, WithPathsThatLookLikeOptions) {
    const TemporaryFolder folder;
    folder.write("-x.json", file_of({slice_case("x", wrong_values)}));
    const ProgramOptions there{.folder = folder.path().string()};
    const ProgramResult first = dmlconform({"run", "--engine", "cpu", "--", "-x.json"}, there);
    const auto blocks = failures_in(first.output);
    ASSERT_EQ(blocks.size(), 1u) << first.all();
    const ProgramResult again = run_program({"/bin/sh", "-c", command_of(blocks[0])}, there);
    EXPECT_TRUE(ends_with_code(again, 1));
    EXPECT_TRUE(prints(again, "FAIL -x/x on cpu"));
}

TEST(Rerun, OfExpansions) {
    const TemporaryFolder folder;
    const std::string file = folder.write("s.json", R"({ "cases": [ { "name": "s", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "${T}", "Sizes": [4] }, "OutputTensor": { "DataType": "${T}", "Sizes": [1] },
                  "InputWindowOffsets": ["${g.offset}"], "InputWindowSizes": [1], "InputWindowStrides": [-1] },
        "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [2] },
        "sweep": { "T": ["FLOAT32", "INT8"], "g": [ { "offset": 1 }, { "offset": 2 } ] } } ] })");
    expect_reproduction({"run", file, "--engine", "cpu"}, 2);
}

TEST(Rerun, UnderTheSameConditions) {
    const TemporaryFolder folder;
    // Wrong only at that feature level: from 4.1 on the descriptor is legal.
    const std::string level =
        folder.write("level.json", R"({ "cases": [ { "name": "a", "operator": "SLICE1", "minFeatureLevel": "2.1",
        "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [4] }, "OutputTensor": { "DataType": "INT64", "Sizes": [1] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [1], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [1] } } ] })");
    expect_reproduction({"run", level, "--engine", "cpu", "--feature-level", "4.0"}, 1);
    const std::string unspecified = folder.write(
        "unspecified.json", file_of({slice_case("a", std::string(wrong_values) + R"(, "tags": ["unspecified"])")}));
    expect_reproduction({"run", unspecified, "--engine", "cpu", "--include-unspecified"}, 1);
    // The command also works for cases outside the gate.
    expect_reproduction({"run", unspecified, "--engine", "cpu", "--verbose"}, 1);
    std::string text = file_of({slice_case("x", wrong_values)});
    text.replace(text.find("[1, 2, 3, 4]"), 12, R"({ "file": "../x.bin" })");
    folder.write("x.bin", std::string("\0\0\x80?\0\0\0@\0\0@@\0\0\x80@", 16));
    expect_reproduction({"run", folder.write("sub/external.json", text), "--engine", "cpu", "--allow-external-data"},
                        1);
}

TEST(Rerun, WithTheCommandOfTheEngine) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({slice_case("x", right_values)}));
    expect_reproduction({"run", file, "--engine", rejecting_worker(folder, 2), "--timeout", "50"}, 1);
}

std::string expectations_of(std::string_view cases, std::string_view status) {
    return fmt::format(R"({{ "format": "dmlconform-expectations", "formatVersion": 1,
        "expectations": [ {{ "cases": ["{}"], "status": "{}", "reason": "known" }} ] }})",
                       cases, status);
}

TEST(Rerun, WithTheExpectations) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({slice_case("x", wrong_values), slice_case("y", right_values)}));
    // One case passes unexpectedly, the other fails in an unexpected way.
    const std::string expected = folder.write("known it's.expect", expectations_of("a/*", "error"));
    const ProgramResult first = dmlconform({"run", file, "--engine", "cpu", "--expect", expected});
    EXPECT_TRUE(ends_with_code(first, 1));
    std::size_t commands = 0;
    const std::string_view label = "  run again   ";
    for (std::size_t at = first.output.find(label); at != std::string::npos; at = first.output.find(label, at + 1)) {
        const std::size_t begin = at + label.size();
        const std::string command = first.output.substr(begin, first.output.find('\n', begin) - begin);
        const ProgramResult again = run_program({"/bin/sh", "-c", command});
        EXPECT_TRUE(ends_with_code(again, 1)) << command;
        EXPECT_TRUE(prints(again, commands == 0 ? "expects error instead" : "XPASS a/y on cpu"));
        ++commands;
    }
    EXPECT_EQ(commands, 2u) << first.all();
}

TEST(Rerun, AfterTheExpectationsWereBroughtUpToDate) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({slice_case("x", wrong_values)}));
    expect_reproduction({"run", file, "--engine", "cpu", "--expect", folder.at("new.expect"), "--update-expectations"},
                        1);
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file, "--engine", "cpu", "--expect", folder.at("new.expect")}), 0))
        << "it is expected now";
}

/// Returns text that the command at this label must print again: the whole failure, from its first line to the label.
/// If the report only names the failure as the smallest of its kind, returns its heading.
std::string failure_before(const std::string& output, std::size_t at, std::string_view label) {
    const std::string_view smallest = "  the smallest: ";
    const std::size_t line = output.rfind('\n', at - 2) + 1;
    if (output.compare(line, smallest.size(), smallest) == 0) {
        const std::size_t name = line + smallest.size();
        return "\nfail " + output.substr(name, at - 1 - name) + " on ";
    }
    const std::size_t start = output.rfind("\nfail ", at);
    return output.substr(start, at + label.size() - start);
}

TEST(Rerun, OfRandomCasesOnTheSameEngines) {
    const TemporaryFolder folder;
    struct {
        const char* what;
        std::vector<std::string> engines;
    } const rows[] = {
        {"what must be rejected is accepted", {"--engine", std::string("exec:python3 -B ") + EXAMPLE_WORKER}},
        {"with a reference, processes and a time limit",
         {"--engine", "cpu", "--engine", rejecting_worker(folder, 3), "--isolate", "--timeout", "50"}},
        {"at a lower feature level",
         {"--engine", "cpu", "--engine", rejecting_worker(folder, 3), "--feature-level", "4.0"}},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.what);
        std::vector<std::string> words{"fuzz", "SLICE1", "--count", "60", "--seed", "3", "--max-failures", "2"};
        words.insert(words.end(), row.engines.begin(), row.engines.end());
        const ProgramResult first = dmlconform(words);
        EXPECT_TRUE(ends_with_code(first, 1));
        const std::string_view label = "  again: ";
        ASSERT_EQ(occurrences(first.output, label), 2u) << first.all();
        for (std::size_t at = first.output.find(label); at != std::string::npos;
             at = first.output.find(label, at + 1)) {
            const std::size_t begin = at + label.size();
            const std::string command = first.output.substr(begin, first.output.find('\n', begin) - begin);
            const ProgramResult again = run_program({"/bin/sh", "-c", command});
            EXPECT_TRUE(ends_with_code(again, 1)) << command;
            EXPECT_TRUE(prints(again, "1 cases of seed 3, ")) << command;
            EXPECT_TRUE(prints(again, label)) << command;
            EXPECT_TRUE(prints(again, failure_before(first.output, at, label))) << command;
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::rerun_test

// Tests what dmlconform compare prints besides its verdict: confidence intervals of ratios, geometric means, and both
// in machine-readable form, and what it learns from a history.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::compare_test {
namespace {

using nlohmann::json;

/// Two benchmarks with different operators, measured by nine processes.
std::string results(double add, double gemm) {
    json document{{"context", {{"dmlconform.machine", "M"}}}, {"benchmarks", json::array()}};
    for (int i = 0; i < 9; ++i) {
        for (const auto& [name, op, time] : {std::tuple{"cpu/a", "ADD", add}, std::tuple{"cpu/b", "GEMM", gemm}}) {
            document["benchmarks"].push_back({{"name", name},
                                              {"label", op},
                                              {"real_time", time * (1 + 0.001 * i)},
                                              {"time_unit", "us"},
                                              {"process", i}});
        }
    }
    return document.dump();
}

/// Results of one process: a benchmark on an engine.
std::string single(const std::string& engine, int minute, double time) {
    const json document{
        {"context",
         {{"date", fmt::format("2026-11-21T13:{:02}:00+00:00", minute)},
          {"dmlconform.machine", "M"},
          {fmt::format("dmlconform.{}.adapter", engine), engine}}},
        {"benchmarks",
         {{{"name", engine + "/a"}, {"label", "ADD"}, {"real_time", time}, {"time_unit", "us"}, {"process", 0}}}}};
    return document.dump();
}

TEST(CompareReport, IntervalsAndMeans) {
    const TemporaryFolder folder;
    const std::string base = folder.write("base.json", results(100, 100));
    const std::string now = folder.write("now.json", results(121, 100));
    const ProgramResult result = dmlconform({"compare", base, now});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "1.210   SLOWER  100 µs  121 µs  1.206 to 1.214"));
    EXPECT_TRUE(prints(result, "geometric mean of 2 ratios: 1.100\n  1.210  ADD (1)\n  1.000  GEMM (1)\n"));
    const ProgramResult script = dmlconform({"compare", base, now, "--json", "-"});
    EXPECT_TRUE(ends_with_code(script, 1));
    const json document = json::parse(script.output);
    EXPECT_NEAR(document["geometricMean"].get<double>(), 1.1, 1e-9);
    EXPECT_NEAR(document["operators"]["ADD"]["geometricMean"].get<double>(), 1.21, 1e-9);
    EXPECT_EQ(document["benchmarks"][0]["verdict"], "slower");
    EXPECT_LT(document["benchmarks"][0]["ratioAtLeast"].get<double>(), 1.21);
    EXPECT_GT(document["benchmarks"][0]["ratioAtMost"].get<double>(), 1.21);
    const ProgramResult markdown = dmlconform({"compare", base, now, "--markdown", folder.at("out.md")});
    EXPECT_TRUE(ends_with_code(markdown, 1));
    const std::string text = content_of(folder.at("out.md"));
    EXPECT_NE(text.find("| cpu/a | 100 µs | 121 µs | 1.210 | 1.206 to 1.214 | SLOWER |\n"), std::string::npos) << text;
}

TEST(CompareReport, MarkdownHasWhatTheTerminalShows) {
    const TemporaryFolder folder;
    json old = json::parse(results(100, 100));
    json fresh = json::parse(results(121, 100));
    for (json* document : {&old, &fresh}) {
        for (json& entry : (*document)["benchmarks"]) {
            if (entry["name"] == "cpu/b") {
                entry["node conv µs"] = document == &old ? 40 : 50;
            }
        }
    }
    const auto add = [](json& document, const char* name) {
        document["benchmarks"].push_back({{"name", name}, {"real_time", 1}, {"time_unit", "us"}});
    };
    add(old, "cpu/gone");
    add(fresh, "cpu/added");
    const std::string base = folder.write("base.json", old.dump());
    const std::string now = folder.write("now.json", fresh.dump());
    const ProgramResult result = dmlconform({"compare", base, now, "--markdown", "-"});
    EXPECT_TRUE(ends_with_code(result, 1));
    for (const char* part : {"2 compared at 5%: 1 slower, 0 faster, 0 unreliable, 1 as before\n",
                             "1 benchmark of the base is gone", "| cpu/a | 100 µs | 121 µs | 1.210 |",
                             "| node conv | 40.0 µs | 50.0 µs | 1.250 |", "Geometric mean of 2 ratios: 1.100\n",
                             "| ADD | 1.210 | 1 |", "Only in base: cpu/gone\n", "Only in new: cpu/added\n"}) {
        EXPECT_TRUE(prints(result, part));
    }
}

TEST(CompareReport, ADocumentOnTheOutputLeavesTheVerdictToTheErrors) {
    const TemporaryFolder folder;
    const std::string one = folder.write("one.json", single("cpu", 0, 100));
    for (const char* option : {"--json", "--markdown"}) {
        const ProgramResult result = dmlconform({"compare", one, one, option, "-"});
        EXPECT_TRUE(ends_with_code(result, 4));
        EXPECT_TRUE(complains(result, "It cannot be told whether 1 of them became slower (exit code 4)"));
        EXPECT_EQ(json::accept(result.output), std::string_view(option) == "--json") << result.all();
    }
}

TEST(ComparePrograms, ChecksItsOptionsFirst) {
    const std::string script = cases_folder() + "/../scripts/compare-programs";
    const std::string program = dmlconform_path();
    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{"--rounds"}, "--rounds needs a value"},
        {{"--rounds", "5", program, program}, "a number from 6 on is needed"},
        {{"--rounds", "many", program, program}, "a number from 6 on is needed"},
        {{"--threshold", "much", program, program}, "a percentage from 0 to 1000 is needed"},
        {{"--keep", "folder"}, "BASE and NEW are needed"},
        {{"--round", "8", program, program}, "there is no option --round"}};
    for (const auto& [words, message] : wrong) {
        std::vector<std::string> all{script};
        all.insert(all.end(), words.begin(), words.end());
        const ProgramResult result = run_program(all);
        EXPECT_TRUE(ends_with_code(result, 2)) << fmt::format("{}", fmt::join(words, " "));
        EXPECT_TRUE(complains(result, message));
    }
}

TEST(CompareReport, ANarrowTerminalShowsTheVerdict) {
    if (!has_terminals()) {
        GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    const TemporaryFolder folder;
    const std::string name(56, 'a');
    const auto named = [&](std::string text) {
        for (std::size_t at = 0; (at = text.find("cpu/a", at)) != std::string::npos; at += name.size()) {
            text.replace(at, 5, name);
        }
        return text;
    };
    const std::string base = folder.write("base.json", named(results(100, 100)));
    const std::string now = folder.write("now.json", named(results(121, 100)));
    const ProgramResult result = dmlconform({"compare", base, now, "--no-color"}, {.terminal_for_output = true});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, name + "  1.210   SLOWER"));
}

/// The history knows each benchmark from the file that has its engine, in whatever order the files are.
TEST(CompareHistory, KnowsWhatEachFileHas) {
    const TemporaryFolder folder;
    const std::string history = folder.at("h.sqlite");
    std::vector<std::string> words{"history", "add", "--history", history, "--commit", "c"};
    for (const std::string engine : {"cpu", "d3d12"}) {
        for (int i = 0; i < 15; ++i) {
            words.push_back(folder.write(fmt::format("{}{}.json", engine, i), single(engine, i, 100 + 0.01 * (i % 3))));
        }
    }
    ASSERT_TRUE(ends_with_code(dmlconform(words), 0));
    const std::string cpu = folder.at("cpu0.json");
    const std::string gpu = folder.at("d3d120.json");
    for (const auto& [first, second] : {std::pair(cpu, gpu), std::pair(gpu, cpu)}) {
        EXPECT_TRUE(ends_with_code(
            dmlconform({"compare", "--base", cpu, gpu, "--new", first, second, "--history", history}), 0));
        EXPECT_TRUE(ends_with_code(dmlconform({"compare", "--base", cpu, gpu, "--new", first, second}), 4));
    }
}

TEST(CompareReport, WhatCannotBeWrittenIsSaidBeforehand) {
    const TemporaryFolder folder;
    const std::string base = folder.write("base.json", results(100, 100));
    for (const char* option : {"--json", "--markdown"}) {
        const ProgramResult result = dmlconform({"compare", base, base, option, folder.at("nowhere/x")});
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_EQ(result.output, "");
    }
}

}  // namespace
}  // namespace dmlconform::tests::compare_test

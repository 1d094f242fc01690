// Tests of limits: numbers on the command line, memory, time and threads.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::limits_test {
namespace {

class Limits : public testing::Test {
protected:
    TemporaryFolder folder_;
    std::string good_ = folder_.write("good.json", good_file());
};

// ---- numbers -------------------------------------------------------------------------------------------------------

TEST_F(Limits, NumbersThatAreNone) {
    using Words = std::vector<std::string>;
    const std::pair<Words, Words> rows[] = {
        {{"run", good_, "--isolate", "--timeout"}, {"nan", "inf", "-1", "0", "1e99", "", "5s", " 5", "0x10"}},
        {{"run", good_, "--max-memory"}, {"-1", "nan", "1.5G", "99999999999G", "", "G", "5X", "5Ki", "5KX", " 5"}},
        {{"run", good_, "--jobs"}, {"0", "-1", "nan", "1e3", "1025", "18446744073709551617"}},
        {{"run", good_, "--repeat"}, {"0", "-1", "nan", "1.0"}},
        {{"run", good_, "--bundle", folder_.at("b"), "--max-bundles"}, {"0", "-1", "nan"}},
        {{"run", good_, "--bundle", folder_.at("b"), "--max-bundle-size"}, {"-1", "nan"}},
        {{"fuzz", "--time"}, {"nan", "inf", "-inf", "-1", "0", "1e400"}},
        {{"fuzz", "--seed"}, {"-1", "nan", "1e3"}},
        {{"fuzz", "--count"}, {"-1", "0", "nan"}},
        {{"fuzz", "--start"}, {"-1", "nan"}},
        {{"fuzz", "--perturbed"}, {"-1", "101", "nan"}},
        {{"fuzz", "--extreme"}, {"-1", "101", "nan"}},
        {{"fuzz", "--max-failures"}, {"-1", "0", "nan"}},
        {{"reduce", good_, "--time"}, {"nan", "inf", "-1"}},
    };
    for (const auto& [words, values] : rows) {
        for (const std::string& value : values) {
            Words all = words;
            all.back() += "=" + value;
            const ProgramResult result = dmlconform(all);
            SCOPED_TRACE(fmt::format("{}", fmt::join(all, " ")));
            EXPECT_TRUE(ends_with_code(result, 2));
            EXPECT_TRUE(complains(result, words.back()));
            EXPECT_EQ(result.output, "");
        }
    }
    for (const char* count : {"0", "-1", "nan", "1025", "1.5", "2^10"}) {
        const ProgramResult result = dmlconform({"run", good_, fmt::format("--isolate={}", count)});
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, fmt::format("--isolate={}: there can be 1 to 1024 processes", count)));
    }
}

TEST_F(Limits, NumbersThatAreSome) {
    const std::vector<std::string> rows[] = {
        {"--isolate", "--timeout=1e2"}, {"--isolate=2"},       {"--max-memory=1g"},    {"--max-memory=64KiB"},
        {"--max-memory=65536"},         {"--max-memory=64kb"}, {"--max-memory=65536B"}};
    for (std::vector<std::string> words : rows) {
        words.insert(words.begin(), {"run", good_, "--engine", "cpu"});
        EXPECT_TRUE(ends_with_code(dmlconform(words), 0));
    }
    const auto seed = [](const std::string& text) {
        return dmlconform({"fuzz", "SLICE1", "--print", "--count=1", "--seed", text}).output;
    };
    EXPECT_EQ(seed("010"), seed("10")) << "decimal";
}

// ---- memory --------------------------------------------------------------------------------------------------------

/// A slice of four elements, with these members for its input.
std::string large_slice(const std::string& input) {
    return fmt::format(R"({{ "name": "slice", "operator": "SLICE1",
        "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", {} }}, "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }},
                  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [1] }},
        "inputs": {{ "InputTensor": {{ "value": 3 }} }}, "expected": {{ "OutputTensor": [3, 3, 3, 3] }} }})",
                       input);
}

/// The largest memory use of any child process so far, in kilobytes.
long peak_of_children() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss;
}

/// Cases over the memory limit do not allocate that memory, on any engine.
TEST_F(Limits, MemoryIsCountedBeforeItIsTaken) {
    const std::pair<const char*, const char*> rows[] = {
        {R"("Sizes": [500000000], "Strides": [0])", "needs about 1907 MiB of memory"},
        {R"("Sizes": [4], "TotalTensorSizeInBytes": 2000000000)", "needs about 3814 MiB of memory"},
        {R"("Sizes": [4], "TotalTensorSizeInBytes": 30000000000000)", "needs about 57220458 MiB of memory"},
    };
    static_cast<void>(dmlconform({"run", good_}));  // runs all engines once, to measure the memory that drivers take
    const long before = peak_of_children();
    for (const auto& [input, reason] : rows) {
        const std::string file =
            folder_.write("large.json", file_of({large_slice(input), slice_case("a", right_values)}));
        for (const std::string& engine : usable_engines()) {
            const ProgramResult result =
                dmlconform({"run", file, "--engine", engine, "-v", "--jobs", "1", "--max-memory", "64M"});
            EXPECT_TRUE(ends_with_code(result, 0));
            EXPECT_LT(peak_of_children(), before + 500'000) << "kilobytes";
            EXPECT_TRUE(prints(result, reason));
            EXPECT_TRUE(prints(result, "1 pass"));
        }
    }
}

// ---- files, keys and messages -------------------------------------------------------------------------------------

/// A file with `cases` cases that all contain the same mistake.
std::string wrong_file(int cases) {
    std::string text;
    for (int i = 0; i < cases; ++i) {
        text += fmt::format(R"({}{{"name": "a {}"}})", i == 0 ? "" : ",\n", i);
    }
    return "{\"cases\": [" + text + "]}";
}

TEST_F(Limits, AfterAHundredProblemsTheRestIsANumber) {
    const std::string one = folder_.write("wrong/one.json", wrong_file(1000));
    const ProgramResult file = dmlconform({"run", one});
    EXPECT_TRUE(ends_with_code(file, 2));
    EXPECT_EQ(occurrences(file.errors, ": error: "), 100u);
    EXPECT_TRUE(complains(file, "\nand 2900 more problems\n"));
    for (int i = 0; i < 300; ++i) {
        folder_.write(fmt::format("wrong/{}.json", i), "{");
    }
    const ProgramResult folder = dmlconform({"validate", folder_.at("wrong")});
    EXPECT_TRUE(ends_with_code(folder, 2));
    EXPECT_EQ(occurrences(folder.errors, ": error: "), 100u);
    EXPECT_TRUE(complains(folder, " more problems\n"));
}

TEST_F(Limits, LongTextsAreQuotedInPart) {
    const std::string text(100'000, 'x');
    const std::string rows[] = {
        fmt::format(R"({{"{}": 1, "cases": []}})", text),
        fmt::format(R"({{"cases": [{{"name": "{} ", "operator": "{}", "desc": {{}}}}]}})", text, text),
        fmt::format(
            R"({{"cases": [{{"name": "a", "operator": "SLICE1", "desc": {{"InputTensor": {{"DataType": "{}", "Sizes": [1]}}}}}}]}})",
            text),
        fmt::format(R"({{"cases": [{{"name": "a", "{}": {{"x": 1}}}}]}})", text),
        fmt::format(R"({{"cases": ["{}]}})", text),
        fmt::format(R"({{"cases": [{}]}})", text),
    };
    for (const std::string& row : rows) {
        const ProgramResult result = dmlconform({"run", folder_.write("long.json", row)});
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_LT(result.errors.size(), 4000u) << result.errors.substr(0, 5000);
    }
}

/// An object with very many different unknown keys.
TEST_F(Limits, AMillionUnknownKeys) {
    std::string keys;
    for (int i = 0; i < 1'000'000; ++i) {
        keys += fmt::format(",\"key{}\":1", i);
    }
    for (const std::string& text :
         {R"({"defaults": {"tags": [])" + keys + R"(}, "cases": [{"name": "a")" + keys + "}, {}]}",
          R"({"cases": [{"name": "a", "operator": "SLICE1", "desc": {"x": 1)" + keys + "}}]}"}) {
        const ProgramResult result = dmlconform({"run", folder_.write("keys.json", text)});
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, "unknown key \"key7\""));
        EXPECT_TRUE(complains(result, " more problems\n"));
    }
}

TEST_F(Limits, AFolderOfManyFiles) {
    constexpr int count = 60'000;
    const std::string text = good_file();
    for (int i = 0; i < count; ++i) {
        folder_.write(fmt::format("many/{:02}/{}.json", i % 100, i), text);
    }
    const ProgramResult result = dmlconform({"list", folder_.at("many"), "--filter", "7/*"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_EQ(result.output.find("7/good"), 0u) << result.all();
}

/// Reading a pipe would block, and a device may have no end.
TEST_F(Limits, OnlyRegularFilesAreRead) {
    const std::string pipe = folder_.at("pipe.json");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::filesystem::create_directory(folder_.at("bundle"));
    ASSERT_EQ(mkfifo(folder_.at("bundle/environment.json").c_str(), 0600), 0);
    std::filesystem::copy_file(good_, folder_.at("bundle/case.json"));
    ASSERT_EQ(mkfifo(folder_.at("pipe.bin").c_str(), 0600), 0);
    const std::string data = folder_.write("data.json", R"({"cases": [{"name": "a", "operator": "SLICE1",
        "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
                 "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2]},
        "inputs": {"InputTensor": {"file": "pipe.bin"}}}]})");
    ProgramOptions options;
    options.timeout = std::chrono::seconds(30);
    for (const std::string& path : {pipe, std::string("/dev/zero"), folder_.at("bundle")}) {
        const std::vector<std::string> rows[] = {
            {"run", path},
            {"run", good_, "--expect", path},
            {"run", good_, "--shard", "1/2", "--durations", path},
            {"compare", path, path},
            {"merge", path},
            {"report", path, "--markdown", "-"},
            {"diff", path, path},
            {"run", good_, "--rerun-failed", path},
            {"report", good_, "--base", path, "--markdown", "-"},
            {"report", good_, "--history", path, "--markdown", "-"},
            {"history", "add", path, "--history", folder_.at("h.sqlite")},
            {"history", "show", "--history", path},
            {"coverage", good_, "--reasons", path},
            {"import", "dxdispatch", path},
        };
        for (const auto& words : rows) {
            const ProgramResult result = dmlconform(words, options);
            SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
            EXPECT_TRUE(ends_with_code(result, 2));
            EXPECT_FALSE(result.errors.empty());
        }
    }
    EXPECT_TRUE(complains(dmlconform({"run", data}, options), "pipe.bin\" is not a regular file"));
    EXPECT_TRUE(ends_with_code(dmlconform({"reduce", folder_.at("bundle"), "--engine", "cpu"}, options), 2));
}

// ---- messages ------------------------------------------------------------------------------------------------------

TEST_F(Limits, WhereEveryExpansionIsLeftOutThatIsSaid) {
    const std::string file = folder_.write("none.json", R"({"cases": [{"name": "a", "operator": "SLICE1",
        "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
                 "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": "${s}"},
        "inputs": {"InputTensor": {"value": 1}}, "sweep": {"s": [[0], [-7]]}, "skipInvalid": true}]})");
    const ProgramResult result = dmlconform({"run", file});
    EXPECT_TRUE(ends_with_code(result, 2));
    EXPECT_TRUE(complains(result, "there is no case: all expansions are left out"));
}

TEST_F(Limits, IntegersThatAreTooLargeAreShown) {
    const std::string file = folder_.write("large.json", R"({"cases": [{"name": "a", "operator": "SLICE1",
        "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [18446744073709551616]}}}]})");
    EXPECT_TRUE(complains(dmlconform({"run", file}),
                          "Sizes[0] must be an integer from 0 to 4294967295; this is 1.8446744073709552e+19"));
}

// ---- time ----------------------------------------------------------------------------------------------------------

std::string faulty(const std::string& words) {
    return std::string("exec:") + FAULTY_WORKER + " " + words;
}

TEST_F(Limits, ATimeoutIsForTheStartToo) {
    const auto start = std::chrono::steady_clock::now();
    const ProgramResult result = dmlconform({"run", good_, "--timeout", "0.3", "--engine", faulty("start hang")});
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_TRUE(complains(result, "no answer to `info` within 0.3 s"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(Limits, ASignalEndsARunThatWaitsForAWorker) {
    using nlohmann::json;
    const std::string file =
        folder_.write("two.json", file_of({slice_case("a", right_values), slice_case("b", right_values)}));
    const std::string report = folder_.at("result.json");
    for (const auto& [signal, exit_code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
        ProgramOptions options;
        options.interrupt_when = [](const std::string& output) { return output.find("two/a") != std::string::npos; };
        options.interrupt_signal = signal;
        options.timeout = std::chrono::seconds(60);
        options.terminal_for_output = has_terminals();  // on a terminal, lines are printed immediately
        if (!options.terminal_for_output) {
            GTEST_SKIP() << "there are no pseudo-terminals here";
        }
        const ProgramResult result = dmlconform(
            {"run", file, "--verbose", "--json", report, "--timeout", "10000", "--engine", faulty("execute hang 2")},
            options);
        EXPECT_TRUE(ends_with_code(result, exit_code));
        EXPECT_TRUE(complains(result, "dmlconform: interrupted; 1 of 2 cases were run"));
        const json document = json::parse(content_of(report));
        EXPECT_EQ(document.at("results").size(), 1u) << "the case at hand was not run";
        EXPECT_EQ(document.at("exitCode"), exit_code);
    }
}

// ---- memory --------------------------------------------------------------------------------------------------------

/// Runs dmlconform with a limit on its address space, in KiB.
ProgramResult with_memory(int kibibytes, const std::string& words) {
    return run_program(
        {"/bin/bash", "-c", fmt::format("ulimit -v {} && exec '{}' {}", kibibytes, dmlconform_path(), words)});
}

TEST_F(Limits, DriversAreNotOpenedWithTooLittleMemory) {
    if (!has_d3d12()) {
        GTEST_SKIP() << "this build has no Direct3D 12";
    }
    if (const ProgramResult here = with_memory(400000, "--version"); here.exit_code != 0) {
        GTEST_SKIP() << "memory cannot be limited here, as under sanitizers: " << here.all();
    }
    const ProgramResult asked = with_memory(400000, fmt::format("run '{}' --engine d3d12", good_));
    EXPECT_TRUE(ends_with_code(asked, 3));
    EXPECT_TRUE(complains(asked, "the engine d3d12 is not usable here: the limit on memory (ulimit -v) leaves "));
    EXPECT_TRUE(complains(asked, "hint: raise it: at least 2048 MiB have to be left"));
    const ProgramResult any = with_memory(400000, fmt::format("run '{}' --isolate", good_));
    EXPECT_TRUE(ends_with_code(any, 0));
    if (usable_engines().size() > 1) {
        EXPECT_TRUE(ends_with_code(with_memory(4000000, fmt::format("run '{}' --engine d3d12", good_)), 0));
    }
}

// ---- threads -------------------------------------------------------------------------------------------------------

/// Sets the stack size to all memory that the process may use, so that no thread can start while everything else works.
ProgramResult without_threads(const std::string& words) {
    return run_program(
        {"/bin/bash", "-c",
         fmt::format("ulimit -s 8000000 && ulimit -v 6000000 && exec '{}' {}", dmlconform_path(), words)});
}

TEST_F(Limits, WithoutThreadsFewerCasesRunAtATime) {
    const ProgramResult here = without_threads("--version");
    if (here.exit_code != 0) {
        GTEST_SKIP() << "limits cannot be set here: " << here.all();
    }
    std::string many;
    for (int i = 0; i < 50; ++i) {
        many += (i == 0 ? "" : ",") + slice_case(fmt::format("{}", i), right_values);
    }
    const std::string file = folder_.write("many.json", file_of({many}));
    const ProgramResult result = without_threads(fmt::format("run '{}' --engine cpu --jobs 8", file));
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ": 50 pass"));
    const ProgramResult large =
        without_threads("run '" + cases_folder() + "/mean_variance_normalization1' --engine cpu");
    EXPECT_TRUE(ends_with_code(large, 0));
}

}  // namespace
}  // namespace dmlconform::tests::limits_test

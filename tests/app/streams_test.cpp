// Tests that failing writes are reported in the exit code, and that all other outputs are still written.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::streams_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// Runs the program in a shell; "$@" in the script is the program with its arguments.
ProgramResult in_shell(const std::string& script, const Words& words, const ProgramOptions& options = {}) {
    Words all{"/bin/sh", "-c", script, "sh", dmlconform_path()};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, options);
}

class Streams : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists("/dev/full")) {
            GTEST_SKIP() << "there is no /dev/full here";
        }
    }

    /// The results of a benchmark and of a run, made on demand.
    std::string benchmarks() {
        return folder_.write("bench.json", R"({ "context": {}, "benchmarks": [ { "name": "a", "run_name": "a",
            "run_type": "iteration", "repetitions": 1, "repetition_index": 0, "iterations": 1, "real_time": 1.0,
            "cpu_time": 1.0, "time_unit": "ns" } ] })");
    }
    std::string result_of(const Words& more = {}) {
        Words words{"run", good_, "--engine", "cpu", "--json", folder_.at("result.json")};
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_TRUE(ends_with_code(dmlconform(words), 0));
        return folder_.at("result.json");
    }
    std::string history() {
        const std::string path = folder_.at("h.sqlite");
        EXPECT_TRUE(ends_with_code(dmlconform({"history", "add", benchmarks(), "--history", path}), 0));
        return path;
    }
    /// Expects that no temporary file remains.
    void expect_nothing_left() {
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
            EXPECT_EQ(entry.path().string().find(".partial"), std::string::npos) << entry.path();
        }
    }

    TemporaryFolder folder_;
    std::string good_ = folder_.write("good.json", good_file());
};

TEST_F(Streams, AnOutputThatCannotBeWrittenIsExitCodeThree) {
    const std::string past = history();
    const std::string shard = result_of({"--shard", "1/1"});
    std::filesystem::rename(shard, folder_.at("shard.json"));
    const std::string result = result_of();
    const std::string bench = benchmarks();
    const std::string bench_case = folder_.write("tagged.json", file_of({slice_case("x", R"(, "tags": ["bench"])")}));
    const Words rows[] = {
        {"--help"},
        {"--version"},
        {"run", "--help"},
        {"adapters"},
        {"list", good_},
        {"list", good_, "--json"},
        {"validate", good_},
        {"describe"},
        {"describe", "SLICE1"},
        {"describe", "--table"},
        {"schema", "result"},
        {"coverage", good_, "--missing"},
        {"run", good_, "--engine", "cpu"},
        {"run", good_, "--engine", "cpu", "-q"},
        {"run", good_, "--engine", "cpu", "--github"},
        {"run", folder_.write("bad.json", bad_file()), "--engine", "cpu", "--github"},
        {"merge", folder_.at("shard.json")},
        {"compare", bench, bench},
        {"history", "add", bench, "--history", past},
        {"history", "show", "--history", past},
        {"history", "export", "--format", "csv", "--history", past},
        {"report", result, "--markdown", "-"},
        {"export", "dxdispatch", good_},
        {"run", good_, "--engine", "cpu", "--jsonl", "-"},
        {"new", "SLICE1"},
        {"diff", result, result},
        {"diff", result, result, "--json", "-"},
        {"describe", "SLICE1", "--json"},
        {"completion", "bash"},
        {"manual"},
        {"fuzz", "SLICE1", "--print", "--seed", "1"},
        {"fuzz", "SLICE1", "--count", "2", "--seed", "1"},
        {"bench", bench_case, "--engine", "cpu", "--no-roofline", "--benchmark_min_time=0.001",
         "--benchmark_repetitions=2"},
    };
    for (const Words& words : rows) {
        SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
        const ProgramResult full = in_shell(R"(exec "$@" > /dev/full)", words);
        EXPECT_TRUE(ends_with_code(full, 3));
        EXPECT_TRUE(complains(full, "dmlconform: the standard output cannot be written: "));
        EXPECT_TRUE(ends_with_code(in_shell(R"(exec "$@" >&-)", words), 3));
    }
}

TEST_F(Streams, ErrorsThatCannotBeToldChangeNothing) {
    const std::string bad = folder_.write("bad.json", bad_file());
    const std::pair<Words, int> rows[] = {
        {{}, 2},
        {{"rnu"}, 2},
        {{"run"}, 2},
        {{"run", folder_.at("none")}, 2},
        {{"run", good_, "--engine", "cpu"}, 0},
        {{"run", bad, "--engine", "cpu"}, 1},
        {{"run", good_, "--engine", "cpu", "--json", "/dev/full"}, 3},
        {{"list", good_, "--filter", "none"}, 2},
        {{"validate", folder_.at("none")}, 2},
        {{"describe", "NOTHING"}, 2},
        {{"compare", good_}, 2},
        {{"compare", good_, good_}, 2},
        {{"merge", good_}, 2},
        {{"history", "add", good_}, 2},
        {{"report", good_}, 2},
        {{"reduce", folder_.at("none")}, 2},
        {{"diff", good_, good_}, 2},
        {{"new", "NOTHING"}, 2},
        {{"import", "onnx-test", folder_.at("none")}, 2},
        {{"completion", "none"}, 2},
        {{"fuzz", "NOTHING"}, 2},
        {{"worker", "--engine", "none"}, 2},
        {{"bench", good_, "--cald"}, 2},
    };
    for (const auto& [words, code] : rows) {
        SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
        EXPECT_TRUE(ends_with_code(in_shell(R"(exec "$@" 2> /dev/full)", words), code));
        EXPECT_TRUE(ends_with_code(in_shell(R"(exec "$@" 2>&-)", words), code));
    }
}

TEST_F(Streams, FilesAreNotTakenForStreamsThatAreClosed) {
    const std::string path = folder_.at("z.json");
    const std::pair<const char*, int> rows[] = {
        {"<&-", 0}, {"2>&-", 0}, {"<&- 2>&-", 0}, {">&-", 3}, {"<&- >&- 2>&-", 3}};
    for (const auto& [closed, code] : rows) {
        SCOPED_TRACE(closed);
        const ProgramResult result =
            in_shell(fmt::format(R"(exec "$@" {})", closed),
                     {"run", good_, "--engine", "cpu", "--json", path, "--jsonl", folder_.at("z.jsonl")});
        EXPECT_TRUE(ends_with_code(result, code));
        EXPECT_EQ(json::parse(content_of(path)).at("exitCode"), code);
        EXPECT_EQ(json::parse(content_of(folder_.at("z.jsonl"))).at("status"), "pass");
    }
}

TEST_F(Streams, TheResultHasTheExitCodeOfTheProgram) {
    const std::string path = folder_.at("z.json");
    const std::string bad = folder_.write("bad.json", bad_file());
    struct Row {
        Words words;
        const char* script;
        int code;
    };
    const Row rows[] = {
        {{good_}, R"(exec "$@")", 0},
        {{bad}, R"(exec "$@")", 1},
        {{good_}, R"(exec "$@" > /dev/full)", 3},
        {{bad}, R"(exec "$@" > /dev/full)", 3},
        {{bad, "--github"}, R"(exec "$@" > /dev/full)", 3},
        {{good_, "--junit", "/dev/full"}, R"(exec "$@")", 3},
        {{good_, "--summary", "/dev/full"}, R"(exec "$@")", 3},
        {{good_, "--jsonl", "/dev/full"}, R"(exec "$@")", 3},
        {{bad, "--expect", "/proc/none.json", "--update-expectations"}, R"(exec "$@")", 3},
    };
    for (const Row& row : rows) {
        Words words{"run", "--engine", "cpu", "--json", path};
        words.insert(words.end(), row.words.begin(), row.words.end());
        SCOPED_TRACE(fmt::format("{} {}", row.script, fmt::join(words, " ")));
        EXPECT_TRUE(ends_with_code(in_shell(row.script, words), row.code));
        EXPECT_EQ(json::parse(content_of(path)).at("exitCode"), row.code);
        std::filesystem::remove(path);
    }
    // The result of merging shards is written in the same way.
    const std::string part = result_of({"--shard", "1/1"});
    EXPECT_TRUE(ends_with_code(in_shell(R"(exec "$@" > /dev/full)", {"merge", part, "--json", path}), 3));
    EXPECT_EQ(json::parse(content_of(path)).at("exitCode"), 3);
    EXPECT_TRUE(ends_with_code(dmlconform({"merge", part, "--json", path, "--junit", "/dev/full"}), 3));
    EXPECT_EQ(json::parse(content_of(path)).at("exitCode"), 3);
    EXPECT_TRUE(ends_with_code(dmlconform({"merge", part, "--json", path}), 0));
    EXPECT_EQ(json::parse(content_of(path)).at("exitCode"), 0);
    expect_nothing_left();
}

TEST_F(Streams, BenchmarksThatCannotBeWrittenAreExitCodeThree) {
    const std::string file = folder_.write("tagged.json", file_of({slice_case("x", R"(, "tags": ["bench"])")}));
    const auto bench = [&](const std::string& output, const Words& more = {}) {
        Words words{"bench",
                    file,
                    "--engine",
                    "cpu",
                    "--no-roofline",
                    "--benchmark_min_time=0.001",
                    "--benchmark_repetitions=2",
                    "--benchmark_out=" + output};
        words.insert(words.end(), more.begin(), more.end());
        return dmlconform(words);
    };
    const ProgramResult full = bench("/dev/full");
    EXPECT_TRUE(ends_with_code(full, 3));
    EXPECT_TRUE(complains(full, "/dev/full cannot be written"));
    EXPECT_TRUE(ends_with_code(bench(folder_.at("none/x.json")), 2)) << "before anything is timed";
    const std::string good = folder_.write("good-bench.json", "old");
    std::filesystem::create_symlink(good, folder_.at("link.json"));
    EXPECT_TRUE(ends_with_code(bench(folder_.at("link.json")), 0));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_.at("link.json")));
    EXPECT_EQ(json::parse(content_of(good)).at("benchmarks").size(), 6u) << "2 repetitions and 4 aggregates";
    EXPECT_TRUE(ends_with_code(bench(folder_.at("x.csv"), {"--benchmark_out_format=csv"}), 0));
    EXPECT_NE(content_of(folder_.at("x.csv")).find("real_time"), std::string::npos);
    EXPECT_TRUE(ends_with_code(bench(folder_.at("x.txt"), {"--benchmark_out_format=console"}), 0));
    EXPECT_NE(content_of(folder_.at("x.txt")).find("Iterations"), std::string::npos);
    expect_nothing_left();
}

// ---- signals
// ---------------------------------------------------------------------------------------------------------

std::string many_cases(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ",\n") + slice_case(fmt::format("good{}", i), right_values);
    }
    return file_of({text});
}

TEST_F(Streams, APipeThatNobodyReadsCostsNoReport) {
    const std::string file = folder_.write("many.json", many_cases(3000));
    const std::string code = folder_.at("code");
    const std::string path = folder_.at("z.json");
    const ProgramResult result =
        in_shell(fmt::format(R"(({{ trap - PIPE; "$@"; echo $? > {}; }} | head -n 1))", code),
                 {"run", file, "--engine", "cpu", "-v", "--json", path, "--junit", folder_.at("z.xml")});
    EXPECT_EQ(content_of(code), "3\n") << result.all();
    EXPECT_TRUE(complains(result, "the standard output cannot be written: Broken pipe"));
    const json document = json::parse(content_of(path));
    EXPECT_EQ(document.at("exitCode"), 3);
    EXPECT_EQ(document.at("results").size(), 3000u);
    EXPECT_NE(content_of(folder_.at("z.xml")).find("</testsuites>"), std::string::npos);
    expect_nothing_left();
}

TEST_F(Streams, AFileThatMayNotGrowCostsNoOtherReport) {
    const std::string file = folder_.write("many.json", many_cases(300));
    // Limits files to 8 KiB.
    const ProgramResult result = in_shell(R"(trap - XFSZ; ulimit -f 16; exec "$@")",
                                          {"run", file, "--engine", "cpu", "--json", folder_.at("z.json"), "--jsonl",
                                           folder_.at("z.jsonl"), "--summary", folder_.at("z.md")});
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_TRUE(complains(result, "z.json cannot be written: File too large"));
    EXPECT_TRUE(complains(result, "z.jsonl cannot be written: File too large"));
    EXPECT_NE(content_of(folder_.at("z.md")).find("300 of 300 results verified"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder_.at("z.json")));
    expect_nothing_left();
}

TEST_F(Streams, TwoSignalsAtOnceAreOne) {
    const std::string file = folder_.write("many.json", many_cases(30000));
    const std::string path = folder_.at("z.json");
    const std::string log = folder_.at("log");
    const ProgramResult result = in_shell(
        fmt::format(R"("$@" > {0} & p=$!; while [ ! -s {0} ]; do sleep 0.02; done; kill $p; kill $p; wait $p)", log),
        {"run", file, "--engine", "cpu", "-v", "--jobs", "1", "--json", path});
    EXPECT_TRUE(ends_with_code(result, 143));
    EXPECT_EQ(json::parse(content_of(path)).at("exitCode"), 143);
    expect_nothing_left();
}

TEST_F(Streams, SignalsThatEndTheProgramAtOnceLeaveNoFile) {
    const std::string file = folder_.write("many.json", many_cases(30000));
    const auto has_begun = [this](const std::string& /*output*/) {
        return std::ranges::any_of(std::filesystem::directory_iterator(folder_.path()),
                                   [](const auto& entry) { return entry.path().extension() == ".partial"; });
    };
    for (const int signal : {SIGQUIT, SIGXCPU}) {
        const ProgramResult result = in_shell(R"(ulimit -c 0; exec "$@")",
                                              {"run", file, "--engine", "cpu", "-v", "--json", folder_.at("z.json")},
                                              {.interrupt_when = has_begun, .interrupt_signal = signal});
        EXPECT_EQ(result.signal, signal) << result.all().substr(0, 1000);
        expect_nothing_left();
    }
}

TEST_F(Streams, ASecondSignalAfterASecondEndsTheProgram) {
    const std::string file = folder_.write("slow.json", file_of({convolution_case("slow", 256, 130, 256, 33)}));
    const std::string log = folder_.at("log");
    const auto start = std::chrono::steady_clock::now();
    const ProgramResult result =
        in_shell(fmt::format(R"("$@" > {0} & p=$!; sleep 1; kill $p; sleep 1.3; kill $p; wait $p)", log),
                 {"run", file, "--engine", "cpu", "--json", folder_.at("z.json")});
    const auto taken = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(ends_with_code(result, 143)) << "which the shell makes of signal 15";
    EXPECT_LT(taken, std::chrono::seconds(6));
    EXPECT_EQ(result.errors.find("interrupted"), std::string::npos) << "it did not end by itself:\n" << result.all();
    expect_nothing_left();
}

}  // namespace
}  // namespace dmlconform::tests::streams_test

// End-to-end tests of engines in separate processes: --isolate, exec:, crashes, and processes left behind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/running_process.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::worker_test {
namespace {

using nlohmann::json;

class Worker : public testing::Test {
protected:
    /// An argument for --engine: a shell script that writes the process ids of its parent and of itself to the file
    /// "processes", and then becomes the worker.
    [[nodiscard]] std::string noted(const std::string& worker) const {
        return fmt::format("exec:sh -c 'echo $PPID $$ > {}; exec {}'", folder_.at("processes"), worker);
    }

    struct Processes {
        pid_t dmlconform = 0;
        pid_t worker = 0;
    };
    /// Empty until the worker has noted both completely. A signal to process 0 would reach everything that runs tests.
    [[nodiscard]] std::optional<Processes> noted_processes() const {
        Processes found;
        std::string end;
        std::ifstream file(folder_.at("processes"));
        const bool is_complete = std::getline(file >> found.dmlconform >> found.worker, end) && !file.eof();
        return is_complete && found.dmlconform > 1 && found.worker > 1 ? std::optional(found) : std::nullopt;
    }
    [[nodiscard]] Processes processes() const {
        const std::optional<Processes> found = noted_processes();
        EXPECT_TRUE(found);
        return found.value_or(Processes());
    }

    [[nodiscard]] std::string many_cases(int count) const {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += (i == 0 ? "" : ",\n") + slice_case(std::to_string(i), right_values);
        }
        return folder_.write("many.json", "{ \"cases\": [\n" + text + "\n] }\n");
    }

    const std::string cpu_worker_ = dmlconform_path() + " worker --engine cpu";
    TemporaryFolder folder_;
    std::string good_ = folder_.write("good.json", good_file());
    std::string bad_ = folder_.write("bad.json", bad_file());
};

TEST_F(Worker, IsolatedEnginesAnswerAsTheyDoInside) {
    for (const std::string& engine : usable_engines()) {
        const ProgramResult good = dmlconform({"run", good_, "--isolate", "--engine", engine});
        EXPECT_TRUE(ends_with_code(good, 0));
        EXPECT_TRUE(prints(good, fmt::format("\n  {:<8}", engine)));
        const ProgramResult bad =
            dmlconform({"run", bad_, "--isolate", "--timeout=100", "--feature-level=5.0", "--engine", engine});
        EXPECT_TRUE(ends_with_code(bad, 1));
        EXPECT_TRUE(prints(bad, "worst       OutputTensor[1]\n    expected  3.0000002 (0x40400001)\n"));
        EXPECT_TRUE(prints(bad, " --feature-level 5.0 --isolate --timeout=100\n"));
        EXPECT_TRUE(prints(bad, ": 1 pass, 1 fail\n"));
    }
}

TEST_F(Worker, TheCorpusGivesTheSameResultsIsolated) {
    const auto statuses = [&](std::vector<std::string> words) {
        const std::string file = folder_.at("result.json");
        words.insert(words.begin(), {"run", cases_folder() + "/top_k1", "--engine", "cpu", "--quiet", "--json", file});
        EXPECT_TRUE(ends_with_code(dmlconform(words), 0));
        return json::parse(content_of(file)).at("summary");
    };
    const json isolated = statuses({"--isolate"});
    EXPECT_GT(isolated.at("pass"), 100);
    EXPECT_EQ(isolated, statuses({}));
}

TEST_F(Worker, ACommandIsAnEngineToCompareWithTheReference) {
    const std::string alone = folder_.write("alone.json", file_of({slice_case("a", "")}));
    const std::string json_file = folder_.at("result.json");
    const ProgramResult result = dmlconform({"run", alone, "--engine", "exec:" + cpu_worker_, "--engine", "cpu",
                                             "--engine", "exec:" + cpu_worker_, "--json", json_file});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "2 pass, 1 reference\n"));
    const json document = json::parse(content_of(json_file));
    EXPECT_EQ(document.at("engines").at(0).at("name"), "cpu");
    EXPECT_FALSE(document.at("engines").at(0).contains("command"));
    EXPECT_EQ(document.at("engines").at(1).at("name"), "exec:cpu");
    EXPECT_EQ(document.at("engines").at(1).at("command"), cpu_worker_);
    EXPECT_EQ(document.at("engines").at(2).at("name"), "exec:cpu#2");
    EXPECT_EQ(document.at("results").at(1).at("engine"), "exec:cpu");
}

TEST_F(Worker, TheExampleInPythonComputesSlices) {
    const std::string worker = "exec:python3 '" EXAMPLE_WORKER "'";
    std::vector<std::string> words{"run", "--engine", worker};
    for (const char* file : {"attributes", "edges", "examples", "layouts", "ranks", "special", "strides", "types"}) {
        words.push_back(fmt::format("{}/slice1/{}.json", cases_folder(), file));
    }
    const ProgramResult slices = dmlconform(words);
    EXPECT_TRUE(ends_with_code(slices, 0));
    EXPECT_TRUE(prints(slices, "exec:python Python 3."));
    EXPECT_EQ(occurrences(slices.output, "fail,"), 0u) << slices.all();
    const ProgramResult others = dmlconform({"run", cases_folder() + "/top_k1", "--engine", worker, "--quiet"});
    EXPECT_TRUE(ends_with_code(others, 1));
    EXPECT_TRUE(prints(others, "Nothing was verified"));
    EXPECT_TRUE(prints(others, " skip\n"));
}

TEST_F(Worker, KillingItCostsOneCase) {
    const int count = 3000;
    bool killed = false;
    ProgramOptions options;
    options.interrupt_when = [&](const std::string& output) {
        const std::optional<Processes> found = noted_processes();
        // A worker that dies before its handshake ends the run, so kill it only after some cases have passed.
        if (!killed && found && output.find("many/") != std::string::npos) {
            killed = kill(found->worker, SIGKILL) == 0;
        }
        return false;
    };
    const std::string json_file = folder_.at("result.json");
    const ProgramResult result = dmlconform(
        {"run", many_cases(count), "--verbose", "--json", json_file, "--engine", noted(cpu_worker_)}, options);
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, fmt::format("{} pass, 1 crash\n", count - 1)));
    EXPECT_TRUE(prints(result, "the worker ended in `"));
    EXPECT_TRUE(prints(result, "signal 9 (Killed)"));
    const json summary = json::parse(content_of(json_file)).at("summary");
    EXPECT_EQ(summary.at("crash"), 1);
    EXPECT_EQ(summary.at("pass"), count - 1);
    EXPECT_TRUE(ends(processes().worker));
}

TEST_F(Worker, ATimeoutCostsOneCase) {
    const ProgramResult result = dmlconform({"run", many_cases(3), "--quiet", "--timeout", "2", "--engine",
                                             std::string("exec:") + FAULTY_WORKER + " execute hang 2"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "timeout   many/1 on exec:fake: no answer to `execute` within 2 s"));
    EXPECT_TRUE(prints(result, ": 2 pass, 1 timeout\n"));
}

TEST_F(Worker, IsTimedByItsOwnClock) {
    const std::string file = folder_.write("a.json", file_of({slice_case("a", R"(, "tags": ["bench"])")}));
    const std::vector<std::string> words{"bench", file, "--no-roofline", "--benchmark_min_time=0.001", "--timeout=100"};
    const auto bench = [&](std::vector<std::string> more) {
        more.insert(more.begin(), words.begin(), words.end());
        return dmlconform(more);
    };
    const ProgramResult isolated = bench({"--isolate", "--engine", "cpu", "--engine", "exec:" + cpu_worker_});
    EXPECT_TRUE(ends_with_code(isolated, 0));
    EXPECT_TRUE(prints(isolated, "exec:cpu/a/a/manual_time "));
    EXPECT_TRUE(prints(isolated, "\ncpu/a/a/manual_time "));
    // The worker answers correctly when its output is verified, and dies when it is timed.
    const ProgramResult lost = bench({"--engine", std::string("exec:") + FAULTY_WORKER + " execute kill 3"});
    EXPECT_TRUE(ends_with_code(lost, 1));
    EXPECT_TRUE(prints(lost, "the worker ended in `execute`: signal 9 (Killed)"));
}

TEST_F(Worker, OneThatDoesNotStartEndsTheRun) {
    const std::pair<std::string, std::string> rows[] = {
        {"exec:sh -c 'echo no such device >&2; exit 5'",
         "`sh -c echo no such device >&2; exit 5` does not answer as a worker: the worker ended in `info`: exit code "
         "5; it said: no such device"},
        {"exec:/nowhere/worker", "/nowhere/worker cannot be started: No such file or directory"},
        {"exec:echo this is not a worker", "it begins with \"this is \" instead of a frame's header"},
        {"exec:" + dmlconform_path() + " worker --engine cpux", "exit code 2"},
    };
    for (const auto& [engine, message] : rows) {
        const ProgramResult result = dmlconform({"run", good_, "--engine", engine});
        EXPECT_TRUE(ends_with_code(result, 3));
        EXPECT_TRUE(complains(result, message));
        EXPECT_TRUE(complains(result, engine));
        EXPECT_EQ(result.output, "");
    }
    if (has_d3d12()) {
        const ProgramResult adapter =
            dmlconform({"run", good_, "--isolate", "--engine", "d3d12", "--adapter", "no such adapter"});
        EXPECT_TRUE(ends_with_code(adapter, 3));
        EXPECT_TRUE(complains(adapter, "the engine d3d12 is not usable here: no adapter's name contains"))
            << "the engine's own words";
    }
}

TEST_F(Worker, WrongUsage) {
    const std::pair<std::vector<std::string>, std::string> rows[] = {
        {{"run", good_, "--engine", "exec:"}, "the command is empty"},
        {{"run", good_, "--engine", "exec:a 'b"}, "a quote ' is not closed"},
        {{"run", good_, "--timeout", "5"}, "hint: --isolate runs each in a process of its own"},
        {{"run", good_, "--isolate", "--timeout", "0"}, "--timeout"},
        {{"run", good_, "--isolate", "--timeout", "-1"}, "--timeout"},
        {{"worker"}, "--engine"},
        {{"worker", "--engine", "exec:x"}, "there is no engine \"exec:x\""},
    };
    for (const auto& [words, message] : rows) {
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, message));
    }
}

TEST_F(Worker, TextsThatAreNotUtf8AreSpeltOut) {
    const TemporaryFolder folder;
    const std::string odd = changed_worker(folder, R"(class Raw(str):
    def encode(self):
        return b"bad \xff\x1b text"
right = worker.answer
def answer(request, programs):
    if request["request"] == "execute":
        return {"error": {"message": Raw()}}
    return right(request, programs)
worker.answer = answer)");
    const ProgramResult result = dmlconform({"run", good_, "--engine", odd, "--json", folder.at("r.json")});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "  reason      bad \\xff\\x1b text\n"));
    EXPECT_EQ(json::parse(content_of(folder.at("r.json")))["results"][0]["reason"], "bad \ufffd\x1b text");
}

TEST_F(Worker, WhatItStartsInAnotherSessionIsNeitherEndedNorWaitedFor) {
    const TemporaryFolder folder;
    const std::string started = changed_worker(folder, fmt::format(R"(import subprocess
process = subprocess.Popen(["sleep", "60"], start_new_session=True)
with open("{}", "w") as file:
    file.write(str(process.pid)))",
                                                                   folder.at("process")));
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(ends_with_code(dmlconform({"run", good_, "--engine", started}), 0));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    const pid_t process = std::stoi(content_of(folder.at("process")));
    EXPECT_EQ(kill(process, 0), 0);
    kill(process, SIGKILL);
}

/// Whether an operator may write to the gaps of a strided output is unspecified. Memory beyond its end is certainly not
/// its own.
TEST_F(Worker, GapsOfAStridedOutputAreItsOwn) {
    std::string text = slice_case("gap", right_values);
    const std::string_view output = R"("OutputTensor": { "DataType": "FLOAT32", "Sizes": [2])";
    text.insert(text.find(output) + output.size(), R"(, "Strides": [2])");
    const std::string file = folder_.write("gap.json", file_of({text}));
    const TemporaryFolder folder;
    const std::string writing = changed_worker(folder, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    output[4:8] = b"\0\0\0\0"
worker.slice1 = slice1)");
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file, "--engine", writing}), 0));
}

TEST_F(Worker, EndsWithItsInput) {
    const ProgramResult nothing = dmlconform({"worker", "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(nothing, 0));
    EXPECT_EQ(nothing.output + nothing.errors, "");
    const ProgramResult garbage =
        run_program({"/bin/sh", "-c", "echo this is not a frame | " + dmlconform_path() + " worker --engine cpu"});
    EXPECT_TRUE(ends_with_code(garbage, 2));
    EXPECT_TRUE(complains(garbage, "this is not a request: it begins with \"this is \""));
    EXPECT_EQ(garbage.output, "");
}

TEST_F(Worker, CtrlCEndsTheRunAndTheWorker) {
    ProgramOptions options;
    options.interrupt_when = [](const std::string& output) { return !output.empty(); };
    const ProgramResult result =
        dmlconform({"run", many_cases(20000), "--verbose", "--engine", noted(cpu_worker_)}, options);
    EXPECT_TRUE(ends_with_code(result, 130));
    EXPECT_TRUE(complains(result, "dmlconform: interrupted"));
    EXPECT_EQ(occurrences(result.output, "crash"), 0u);
    EXPECT_FALSE(is_running(processes().worker));
}

/// Kills dmlconform itself at its first output, and checks that the worker ends as well.
TEST_F(Worker, KillingDmlconformLeavesNothing) {
    if (!has_terminals()) {
        GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    for (const std::string& worker : {cpu_worker_, FAULTY_WORKER + std::string(" execute hang")}) {
        SCOPED_TRACE(worker);
        ProgramOptions options;
        options.terminal_for_output = true;  // on a terminal, lines are printed immediately
        std::optional<Processes> killed;
        std::filesystem::remove(folder_.at("processes"));  // of the worker before
        options.interrupt_when = [&](const std::string& output) {
            if (!killed && output.find("many") != std::string::npos) {
                killed = noted_processes();
                if (killed) {
                    kill(killed->dmlconform, SIGKILL);
                }
            }
            return false;
        };
        const ProgramResult result =
            dmlconform({"run", many_cases(20000), "--verbose", "--timeout=3", "--engine", noted(worker)}, options);
        EXPECT_EQ(result.signal, SIGKILL) << result.all();
        ASSERT_TRUE(killed);
        EXPECT_TRUE(ends(killed->worker));
    }
}

}  // namespace
}  // namespace dmlconform::tests::worker_test

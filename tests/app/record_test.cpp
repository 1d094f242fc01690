// Tests of run --record: a recording is complete, comes from a single engine and contains only what was computed.
// Otherwise the earlier recording remains.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::record_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A case large enough for data files.
std::string large_case(std::string_view name) {
    return fmt::format(R"({{ "name": "{}", "operator": "ELEMENT_WISE_IDENTITY",
        "desc": {{ "InputTensor": {{ "DataType": "INT32", "Sizes": [1000] }},
                  "OutputTensor": {{ "DataType": "INT32", "Sizes": [1000] }} }},
        "inputs": {{ "InputTensor": {{ "start": 1, "step": 1 }} }} }})",
                       name);
}

class Record : public testing::Test {
protected:
    /// An engine that answers each large case with a thousand elements of these bytes, and waits before the second
    /// case.
    std::string answering(const std::string& name, const std::string& element, const std::string& more = "") const {
        std::string bytes;
        for (int i = 0; i < 1000; ++i) {
            bytes += element;
        }
        const std::string answers =
            folder_.write(name, json::array({json::array({bytes}), json::array({bytes})}).dump());
        return fmt::format("exec:{}python3 '{}' '{}' '{}'", more, ANSWERING_WORKER, EXAMPLE_WORKER, answers);
    }

    ProgramResult record(const std::string& engine, const ProgramOptions& options = {}) const {
        return dmlconform({"run", file_, "--engine", engine, "--record", recording_, "-v"}, options);
    }

    /// All files next to the recording, by name.
    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> result;
        for (const auto& entry : fs::recursive_directory_iterator(folder_.at("golden"))) {
            const std::string name = fs::relative(entry.path(), folder_.at("golden")).generic_string();
            result[name] = entry.is_regular_file() ? content_of(entry.path().string()) : "";
        }
        return result;
    }

    ProgramResult compare_with_recording() const { return dmlconform({"run", recording_, "--engine", "cpu"}); }

    TemporaryFolder folder_;
    std::string file_ = folder_.write("in.json", file_of({large_case("a"), large_case("b")}));
    std::string keep_ = folder_.write("golden/mine.txt", "mine");
    std::string recording_ = folder_.at("golden/out.json");
};

TEST_F(Record, ReplacesTheEarlierOneAndItsData) {
    ASSERT_TRUE(ends_with_code(record(answering("one.txt", "01000000")), 0));
    ASSERT_TRUE(ends_with_code(compare_with_recording(), 1));
    ASSERT_TRUE(ends_with_code(record("cpu"), 0));
    EXPECT_TRUE(ends_with_code(compare_with_recording(), 0));
    const auto seen = files();
    EXPECT_EQ(seen.size(), 7u) << "mine.txt, out.json, the folder, and two files for each of the cases";
    EXPECT_TRUE(seen.contains("mine.txt"));
    EXPECT_TRUE(seen.contains("out-2/in-a.expected.OutputTensor.npy"));
    ASSERT_TRUE(ends_with_code(record("cpu"), 0));
    EXPECT_TRUE(files().contains("out/in-a.expected.OutputTensor.npy"));
    EXPECT_EQ(files().size(), 7u);
    EXPECT_TRUE(ends_with_code(compare_with_recording(), 0));
}

TEST_F(Record, LeavesTheUsersOwnFilesThere) {
    ASSERT_TRUE(ends_with_code(record("cpu"), 0));
    folder_.write("golden/out/mine.npy", "mine");
    ASSERT_TRUE(ends_with_code(record("cpu"), 0));
    EXPECT_EQ(content_of(folder_.at("golden/out/mine.npy")), "mine");
    EXPECT_FALSE(fs::exists(folder_.at("golden/out/in-a.expected.OutputTensor.npy")));
    EXPECT_TRUE(ends_with_code(compare_with_recording(), 0));
}

TEST_F(Record, ThatFailsLeavesTheEarlierOne) {
    ASSERT_TRUE(ends_with_code(record("cpu"), 0));
    const auto before = files();
    const std::string other = answering("one.txt", "01000000");
    const std::string command = fmt::format("ulimit -f 1; exec '{}' run '{}' --engine \"$1\" --record '{}'",
                                            dmlconform_path(), file_, recording_);
    const ProgramResult result = run_program({"/bin/bash", "-c", command, "bash", other});
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_TRUE(complains(result, "the limit on the size of files is reached"));
    EXPECT_FALSE(prints(result, "Recorded "));
    EXPECT_TRUE(prints(result, "Nothing was recorded, because the recording failed: "));
    EXPECT_EQ(files(), before);
}

TEST_F(Record, ThatIsEndedLeavesTheEarlierOne) {
    if (!has_terminals()) {
        GTEST_SKIP() << "lines come as they are written on terminals only, and there are none here";
    }
    ASSERT_TRUE(ends_with_code(record("cpu"), 0));
    const auto before = files();
    const std::string slow = answering("one.txt", "01000000", "env DELAY=30 ");
    const auto first_result = [](const std::string& output) { return output.find("in/a on ") != std::string::npos; };
    for (const int signal : {2, 15, 1}) {
        const ProgramResult ended =
            record(slow, {.terminal_for_output = true, .interrupt_when = first_result, .interrupt_signal = signal});
        EXPECT_TRUE(ends_with_code(ended, 128 + signal));
        EXPECT_TRUE(prints(ended, "Nothing was recorded, because the run was interrupted: "));
        EXPECT_EQ(files(), before) << signal;
    }
    const ProgramResult killed =
        record(slow, {.terminal_for_output = true, .interrupt_when = first_result, .interrupt_signal = 9});
    EXPECT_EQ(killed.signal, 9) << killed.all();
    for (const auto& [name, content] : before) {
        EXPECT_EQ(files()[name], content) << name;
    }
    EXPECT_TRUE(ends_with_code(compare_with_recording(), 0));
    ASSERT_TRUE(ends_with_code(record("cpu"), 0)) << "what is left over is not in the way";
}

TEST_F(Record, GoesThroughNoSymbolicLink) {
    folder_.write("elsewhere/in-a.expected.OutputTensor.npy", "mine");
    fs::create_directory_symlink(folder_.at("elsewhere"), folder_.at("golden/out"));
    ASSERT_TRUE(ends_with_code(record("cpu"), 0));
    EXPECT_EQ(content_of(folder_.at("elsewhere/in-a.expected.OutputTensor.npy")), "mine");
    EXPECT_TRUE(ends_with_code(compare_with_recording(), 0));
    fs::create_symlink(recording_, folder_.at("link.json"));
    const ProgramResult result = dmlconform({"run", file_, "--engine", "cpu", "--record", folder_.at("link.json")});
    EXPECT_TRUE(ends_with_code(result, 2));
    EXPECT_TRUE(complains(result, "link.json: this is a symbolic link"));
}

TEST_F(Record, TwoAtATimeDoNotMix) {
    const std::string engines[] = {answering("one.txt", "01000000"), answering("two.txt", "02000000")};
    std::vector<std::thread> threads;
    for (const std::string& engine : engines) {
        threads.emplace_back([&, engine] { EXPECT_TRUE(ends_with_code(record(engine), 0)); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const json written = json::parse(content_of(recording_));
    ASSERT_EQ(written["cases"].size(), 2u);
    std::string values[2];
    for (std::size_t i = 0; i < 2; ++i) {
        values[i] = content_of(
            folder_.at("golden/" + written["cases"][i]["expected"]["OutputTensor"]["file"].get<std::string>()));
    }
    EXPECT_EQ(values[0], values[1]) << "of one engine";
    EXPECT_EQ(files().size(), 7u) << "the other one's files are gone";
}

TEST_F(Record, TakesNothingThatWasNotComputed) {
    const std::string small = folder_.write("small.json", file_of({slice_case("bare", "")}));
    const std::string silent = changed_worker(folder_, "worker.slice1 = lambda desc, data, output: None");
    const ProgramResult blank = dmlconform({"run", small, "--engine", silent, "--record", recording_});
    EXPECT_TRUE(ends_with_code(blank, 1));
    EXPECT_TRUE(prints(blank, "OutputTensor: the engine wrote nothing to it"));
    EXPECT_TRUE(prints(blank, "Nothing was recorded: "));
    EXPECT_FALSE(fs::exists(recording_));
    const TemporaryFolder other;
    const std::string stray = changed_worker(other, R"(right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    output[8:12] = b"\0\0\0\0"
worker.slice1 = slice1)");
    const ProgramResult beyond = dmlconform({"run", small, "--engine", stray, "--record", recording_});
    EXPECT_TRUE(ends_with_code(beyond, 1));
    EXPECT_TRUE(prints(beyond, "the engine wrote beyond the end of OutputTensor"));
    EXPECT_FALSE(fs::exists(recording_));
}

TEST_F(Record, LeavesOutCasesThatTheEngineFails) {
    const std::string expecting = folder_.write("small.json", good_file());
    const std::string silent = changed_worker(folder_, "worker.slice1 = lambda desc, data, output: None");
    const ProgramResult wrong = dmlconform({"run", expecting, "--engine", silent, "--record", recording_});
    EXPECT_TRUE(ends_with_code(wrong, 1));
    EXPECT_TRUE(prints(wrong, "Nothing was recorded: "));
    EXPECT_TRUE(prints(wrong, "  left out: 1 case: the output differs"));
    EXPECT_FALSE(fs::exists(recording_));
    ASSERT_TRUE(ends_with_code(dmlconform({"run", expecting, "--engine", "cpu", "--record", recording_}), 0));
    EXPECT_FALSE(json::parse(content_of(recording_))["cases"][0].contains("description"))
        << "nothing of the case was recorded from the engine";
}

/// The nodes of a graph are cases of the run, too.
TEST_F(Record, GraphsAndTheirNodesAreRead) {
    const std::string graph = folder_.write("graph.json", file_of({R"({ "name": "g", "graph": {
        "nodes": [ { "name": "a", "operator": "ELEMENT_WISE_ABS", "desc": {
            "InputTensor": { "DataType": "INT32", "Sizes": [2] }, "OutputTensor": { "DataType": "INT32", "Sizes": [2] } },
            "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "y" } } ], "outputs": ["y"] },
        "inputs": { "x": [1, -2] } })"}));
    const std::string engine = "exec:" + dmlconform_path() + " worker --engine cpu";
    ASSERT_TRUE(ends_with_code(dmlconform({"run", graph, "--engine", engine, "--record", recording_}), 0));
    ASSERT_TRUE(ends_with_code(compare_with_recording(), 0));
    EXPECT_NE(content_of(recording_).find("\"nodes/graph/g/a\""), std::string::npos);
}

TEST_F(Record, EnginesThatWriteNothingDoNotAgree) {
    const std::string small = folder_.write("small.json", file_of({slice_case("bare", "")}));
    const TemporaryFolder other;
    const char* nothing = "worker.slice1 = lambda desc, data, output: None";
    const ProgramResult result = dmlconform(
        {"run", small, "--engine", changed_worker(folder_, nothing), "--against", changed_worker(other, nothing)});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, ": 1 skip, 1 error\n"));
    EXPECT_TRUE(prints(result, "the engine wrote nothing to it"));
}

}  // namespace
}  // namespace dmlconform::tests::record_test

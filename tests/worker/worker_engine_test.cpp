// Tests of engine/worker/worker_engine: an engine in another process gives the same results, and its faults cost as
// little as possible.
#include "engine/worker/worker_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/engine_lost.h"
#include "engine/worker/messages.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"
#include "tests/running_process.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::worker_engine_test {
namespace {

using namespace std::chrono_literals;
using run::Status;
using worker::WorkerCommand;
using worker::WorkerEngine;
using worker::WorkerSettings;

using Engines = std::vector<std::unique_ptr<Engine>>;

WorkerCommand faulty(std::vector<std::string> words) {
    words.insert(words.begin(), FAULTY_WORKER);
    return {std::move(words), {}, ""};
}

Engines started(const WorkerCommand& command, const WorkerSettings& settings = {}) {
    Engines engines;
    auto engine = WorkerEngine::start(command, settings);
    if (!engine) {
        throw std::runtime_error(engine.error().message);
    }
    engines.push_back(std::move(*engine));
    return engines;
}

std::string start_error(const WorkerCommand& command, const WorkerSettings& settings = {}) {
    const auto engine = WorkerEngine::start(command, settings);
    return engine ? "it started" : engine.error().message;
}

std::vector<cases::Case> three_cases() {
    return cases_of({slice_with_expected, slice_without_expected, normalization});
}

TEST(WorkerEngine, ComputesAndRejectsLikeTheEngineItself) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, slice_with_wrong_expected,
                                 top_k_half_expected, normalization, illegal_slice});
    const AllResults there = run_all(cases, started(faulty({})));
    Engines local;
    local.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    const AllResults here = run_all(cases, local);
    ASSERT_EQ(there.results.size(), here.results.size());
    for (std::size_t i = 0; i < here.results.size(); ++i) {
        EXPECT_STREQ(to_string(there.results[i].status), to_string(here.results[i].status)) << cases[i].id;
        EXPECT_EQ(there.results[i].reason, here.results[i].reason);
        EXPECT_EQ(there.results[i].timing.execute.count() != 0, here.results[i].timing.execute.count() != 0);
    }
    EXPECT_EQ(there.engines[0].name, "fake");
    EXPECT_EQ(there.engines[0].adapter, "made up");
}

struct Row {
    const char* step;
    const char* action;
    Status status;
    const char* reason;
};

/// The second of three cases triggers a fault; the third one passes on a new process.
TEST(WorkerEngine, AFaultCostsTheCaseAtHand) {
    std::vector<Row> rows{
        {"execute", "text", Status::error, "`execute` is not understood: it begins with \"Hello, t\""},
        {"execute", "huge", Status::error, "announces 4294967295 bytes"},
        // Upper bound for the size of a read of two floats with their guard; larger ones are rejected before
        // allocating.
        {"read", "announce", Status::error,
         "`read` is not understood: it announces 2147483647 bytes; 1048844 are allowed"},
        {"read", "deep", Status::error, "levels are nested"},
        {"compile", "tag", Status::error, "`compile` is not understood: tags are not used"},
        {"bind", "number", Status::error, "`bind` is not understood: it is none to request"},
        {"bind", "wrong-id", Status::error, "`bind` is not understood: it is none to request"},
        {"read", "stop-in-frame", Status::crash, "the worker ended in `read`: exit code 0"},
        {"execute", "flood", Status::error, "it begins with \"xxxxxxxx\""},
        {"execute", "close", Status::crash, "the worker closed its standard output in `execute`, and did not end"},
    };
    for (const char* step : {"unsupported", "compile", "bind", "execute", "read"}) {
        rows.push_back(
            {step, "crash", Status::crash, "signal 11 (Segmentation fault); it said: about to crash\x1b[31m"});
        rows.push_back({step, "kill", Status::crash, "signal 9 (Killed)"});
        rows.push_back({step, "exit", Status::crash, "exit code 7; it said: I give up"});
        rows.push_back({step, "hang", Status::timeout, "within 1 s, so it was ended"});
    }
    const auto cases = three_cases();
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.step) + " " + row.action);
        const auto limit = row.status == Status::timeout ? 1000ms : 30s;
        const AllResults result = run_all(cases, started(faulty({row.step, row.action, "2"}), {limit, 60s}));
        EXPECT_EQ(result.results[0].status, Status::pass) << result.results[0].reason;
        EXPECT_STREQ(to_string(result.results[1].status), to_string(row.status));
        EXPECT_NE(result.results[1].reason.find(row.reason), std::string::npos) << result.results[1].reason;
        EXPECT_EQ(result.results[2].status, Status::pass) << result.results[2].reason;
        EXPECT_FALSE(result.passed());
    }
}

/// The answer to `release` is the last of a case, and of a run. The case after it is innocent.
TEST(WorkerEngine, AFaultInReleaseCostsTheCaseThatIsReleased) {
    const Row rows[] = {
        {"release", "crash", Status::crash, "the worker ended in `release`: signal 11"},
        {"release", "exit", Status::crash, "the worker ended in `release`: exit code 7; it said: I give up"},
        {"release", "hang", Status::timeout, "no answer to `release` within 1 s"},
        {"release", "text", Status::error, "answer to `release` is not understood"},
    };
    const auto cases = three_cases();
    for (const char* number : {"2", "3"}) {
        const std::size_t which = number == std::string("2") ? 1 : 2;
        for (const Row& row : rows) {
            SCOPED_TRACE(std::string(row.action) + " " + number);
            const auto limit = row.status == Status::timeout ? 1000ms : 30s;
            const AllResults result = run_all(cases, started(faulty({row.step, row.action, number}), {limit, 60s}));
            for (std::size_t i = 0; i < cases.size(); ++i) {
                EXPECT_STREQ(to_string(result.results[i].status), to_string(i == which ? row.status : Status::pass))
                    << i << " " << result.results[i].reason;
            }
            EXPECT_NE(result.results[which].reason.find(row.reason), std::string::npos) << result.results[which].reason;
            EXPECT_FALSE(result.passed());
        }
    }
}

TEST(WorkerEngine, AnErrorOfReleaseEndsTheCase) {
    const AllResults right = run_all(cases_of({slice_with_expected}), started(faulty({"release", "error"})));
    EXPECT_EQ(right.results[0].status, Status::error);
    EXPECT_EQ(right.results[0].reason, "the worker's answer to `release` is an error: cannot free");
    const AllResults wrong = run_all(cases_of({slice_with_wrong_expected}), started(faulty({"release", "error"})));
    EXPECT_EQ(wrong.results[0].status, Status::error);
    EXPECT_NE(wrong.results[0].reason.find("cannot free; before, the case ended as fail: "), std::string::npos)
        << wrong.results[0].reason;
}

/// What is executed more than once is released when that is over, and so is what is not executed at all.
TEST(WorkerEngine, WaitsForTheReleaseOfAnyExecutable) {
    const Engines repeated = started(faulty({"release", "exit"}));
    run::CaseSettings settings;
    settings.further_executions = 2;
    EXPECT_EQ(run::run_case(cases_of({slice_with_expected})[0], *repeated[0], settings).status, Status::crash);

    const auto illegal = cases_of({illegal_slice});
    EXPECT_EQ(run::run_case(illegal[0], *started(faulty({}))[0]).status, Status::fail) << "it is accepted";
    const Engines unused = started(faulty({"release", "exit"}));
    EXPECT_EQ(run::run_case(illegal[0], *unused[0]).status, Status::crash);
}

TEST(WorkerEngine, AnswersThatMakeNoSense) {
    const Row rows[] = {
        {"compile", "both", Status::error,
         "must have exactly one of `accepted`, `unsupported`, `rejected` and `error`"},
        {"compile", "neither", Status::error, "must have exactly one of"},
        {"execute", "negative", Status::error, "has a `nanoseconds` that is not a whole number of at least 0"},
        {"execute", "negative-device", Status::error, "has a `deviceNanoseconds` that is not a whole number"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.action);
        const AllResults result = run_all(cases_of({slice_with_expected}), started(faulty({row.step, row.action})));
        EXPECT_STREQ(to_string(result.results[0].status), to_string(row.status));
        EXPECT_NE(result.results[0].reason.find(row.reason), std::string::npos) << result.results[0].reason;
    }
}

TEST(WorkerEngine, IsNotWaitedForWhenTheRunIsInterrupted) {
    std::atomic<bool> interrupted = false;
    WorkerSettings settings;
    settings.interrupted = [&] { return interrupted.load(); };
    const Engines engines = started(faulty({"execute", "hang", "2"}), settings);
    const auto subjects = three_cases();
    EXPECT_EQ(run::run_case(subjects[0], *engines[0]).status, Status::pass);
    interrupted = true;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW((void)run::run_case(subjects[1], *engines[0]), EngineLost) << "nothing is known of the case";
    EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(WorkerEngine, Rooflines) {
    const auto none = started(faulty({}))[0]->measure_roofline();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message, "the engine has no kernels to measure a roofline with");
    const auto back = worker::roofline_from_json(worker::to_json(Roofline{3e9, 4e12}));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->bytes_per_second, 3e9);
    EXPECT_EQ(back->operations_per_second, 4e12);
    using nlohmann::json;
    for (const json& bad :
         {json::object(), json{{"bytesPerSecond", 1}}, json{{"bytesPerSecond", 1}, {"operationsPerSecond", 0}},
          json{{"bytesPerSecond", -1}, {"operationsPerSecond", 1}},
          json{{"bytesPerSecond", "1"}, {"operationsPerSecond", 1}}}) {
        EXPECT_FALSE(worker::roofline_from_json(bad)) << bad;
    }
}

TEST(WorkerEngine, WhatAWorkerSaysBesideDoesNotHoldItUp) {
    for (const char* step : {"compile", "execute"}) {
        const AllResults result = run_all(three_cases(), started(faulty({step, "chatter"})));
        EXPECT_EQ(result.count(Status::pass), 3u) << result.results[0].reason;
    }
}

TEST(WorkerEngine, LargeTensorsGoBothWaysAtOnce) {
    // The data exceed the capacity of pipes, and the worker writes much while it receives them.
    const auto cases = cases_of({R"({ "name": "large", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [3000000] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3000000] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [3000000], "InputWindowStrides": [-1] },
        "inputs": { "InputTensor": { "random": "bits", "seed": 3 } } })",
                                 slice_with_expected});
    const AllResults result = run_all(cases, started(faulty({"bind", "chatter"})));
    EXPECT_EQ(result.count(Status::pass), 2u) << result.results[0].reason;
}

TEST(WorkerEngine, WorkersThatDoNotStart) {
    EXPECT_NE(start_error({{"/nowhere/at-all"}, {}, ""}).find("/nowhere/at-all cannot be started: No such file"),
              std::string::npos);
    EXPECT_NE(start_error({{"true"}, {}, "/nowhere"}).find("true cannot be started: No such file"), std::string::npos);
    const std::pair<const char*, const char*> rows[] = {
        {"exit", "ended in `info`: exit code 7; it said: I give up"},
        {"text", "it begins with \"Hello, t\""},
        {"hang", "no answer to `info` within 0.3 s"},
        {"deep", "nested"},
    };
    for (const auto& [action, message] : rows) {
        const WorkerCommand command = faulty({"start", action});
        const std::string error = start_error(command, {60s, 300ms});
        EXPECT_NE(error.find(message), std::string::npos) << error;
        EXPECT_NE(error.find(to_string(command)), std::string::npos) << error;
    }
    EXPECT_NE(start_error({{"true"}, {}, ""}).find("`true` does not answer as a worker"), std::string::npos);
}

TEST(WorkerEngine, EnvironmentAndFolderAreTheWorkers) {
    const TemporaryFolder folder;
    const std::string script = R"sh(echo "$A $B $(pwd)" >&2; exit 1)sh";
    const std::string error =
        start_error({{"sh", "-c", script}, {{"A", "one"}, {"B", "two=2"}}, folder.path().string()});
    EXPECT_NE(error.find("one two=2 " + folder.path().string()), std::string::npos) << error;
}

TEST(WorkerEngine, GivesUpOnAWorkerThatCannotBeStartedAgain) {
    const TemporaryFolder folder;
    const std::string marker = folder.at("started");
    const std::string script = "if [ -e " + marker + " ]; then echo x >> " + marker + "; exit 3; fi; : > " + marker +
                               "; exec " + FAULTY_WORKER + " execute kill";
    const auto cases = cases_of({slice_with_expected, slice_without_expected, normalization, top_k_half_expected,
                                 slice_with_wrong_expected, illegal_slice});
    const AllResults result = run_all(cases, started({{"sh", "-c", script}, {}, ""}));
    EXPECT_EQ(result.results[0].status, Status::crash) << result.results[0].reason;
    for (std::size_t i = 1; i < result.results.size(); ++i) {
        EXPECT_EQ(result.results[i].status, Status::error);
        EXPECT_NE(result.results[i].reason.find("cannot be started again"), std::string::npos)
            << result.results[i].reason;
    }
    EXPECT_EQ(content_of(marker), "x\nx\nx\n") << "three attempts";
}

/// A descriptor with inputs of one float, and an engine.
class OneExecutable : public testing::Test {
protected:
    const std::vector<cases::Case> cases_ = cases_of({slice_with_expected});
    const operators::Descriptor& descriptor_ = *cases_[0].descriptor;
    core::Tensor input_{*descriptor_.inputs()[0].desc};
    const core::Tensor* const inputs_[1] = {&input_};
    core::Tensor output_ = core::output_tensor(*descriptor_.outputs()[0].desc);
    core::Tensor* const outputs_[1] = {&output_};

    void SetUp() override {
        for (std::size_t i = 0; i < 4; ++i) {
            input_.as<float>()[i] = static_cast<float>(i + 1);
        }
    }
};

TEST_F(OneExecutable, CanBeUsedInAnyOrder) {
    const Engines engines = started(faulty({}));
    const auto executable = engines[0]->compile(descriptor_).value();  // without asking first whether it is supported
    EXPECT_FALSE(executable->execute().has_value()) << "nothing is bound";
    ASSERT_TRUE(executable->bind(inputs_).has_value());
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(executable->execute().has_value());
        EXPECT_TRUE(executable->execute_time().has_value());
    }
    for (int i = 0; i < 2; ++i) {
        output_.as<float>()[1] = -1;
        ASSERT_TRUE(executable->read(outputs_).has_value());
        EXPECT_EQ(output_.as<float>()[1], 3.0f);
    }
    input_.as<float>()[2] = 7;
    ASSERT_TRUE(executable->bind(inputs_).has_value());
    ASSERT_TRUE(executable->execute().has_value());
    ASSERT_TRUE(executable->read(outputs_).has_value());
    EXPECT_EQ(output_.as<float>()[1], 7.0f);
    EXPECT_EQ(core::find_stray_write(output_), std::nullopt);
}

TEST_F(OneExecutable, SeveralAtATime) {
    const Engines engines = started(faulty({}));
    const auto first = engines[0]->compile(descriptor_).value();
    const auto second = engines[0]->compile(descriptor_).value();
    ASSERT_TRUE(first->bind(inputs_).has_value());
    ASSERT_TRUE(second->bind(inputs_).has_value());
    ASSERT_TRUE(first->execute().has_value()) << "the answer was passed over, so it is asked for again";
    ASSERT_TRUE(first->read(outputs_).has_value());
    EXPECT_EQ(output_.as<float>()[1], 3.0f);
}

TEST_F(OneExecutable, OfALostWorkerStaysLost) {
    const Engines engines = started(faulty({"execute", "kill"}));
    const auto lost = engines[0]->compile(descriptor_).value();
    ASSERT_TRUE(lost->bind(inputs_).has_value());
    EXPECT_THROW((void)lost->execute(), EngineLost);
    EXPECT_EQ(engines[0]->unsupported(descriptor_), std::nullopt) << "answered by a new process";
    EXPECT_THROW((void)lost->execute(), EngineLost) << "which does not know this one";
    EXPECT_THROW((void)lost->read(outputs_), EngineLost);
}

TEST(WorkerEngine, LeavesNothingRunning) {
    const TemporaryFolder folder;
    const std::string file = folder.at("process");
    // The worker starts a child that ignores that its input is closed.
    const std::string script = "sleep 1000 & echo $! > " + file + "; exec " + FAULTY_WORKER + " execute hang";
    Engines engines = started({{"sh", "-c", script}, {}, ""}, {200ms, 60s});
    const pid_t grandchild = std::stoi(content_of(file));
    EXPECT_TRUE(is_running(grandchild));
    engines.clear();
    EXPECT_TRUE(ends(grandchild));
}

}  // namespace
}  // namespace dmlconform::tests::worker_engine_test

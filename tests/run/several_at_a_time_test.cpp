// Tests of engine/run/runner with several sets of engines: the same results in the same order, however long cases take.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "engine/run/case_memory.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::several_at_a_time_test {
namespace {

using run::Status;

std::vector<cases::Case> numbered(int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
        std::string text(slice_with_expected);
        text.replace(text.find("with-expected"), 13, fmt::format("{}", i));
        texts.push_back(std::move(text));
    }
    return cases_of({texts.begin(), texts.end()});
}

std::vector<run::EngineSet> engine_sets(std::size_t count, const Behaviour& behaviour) {
    std::vector<run::EngineSet> sets(count);
    for (run::EngineSet& set : sets) {
        set.push_back(std::make_unique<FakeEngine>(behaviour));
    }
    return sets;
}

std::vector<std::string> ids(const AllResults& run) {
    std::vector<std::string> list;
    for (const run::CaseResult& result : run.results) {
        list.push_back(result.subject->id);
    }
    return list;
}

TEST(SeveralAtATime, ResultsInTheOrderOfTheCases) {
    const auto subjects = numbered(300);
    std::atomic<int> executions{0};
    Behaviour uneven;
    uneven.at_step = [&](const std::string& step) {
        if (step == "execute" && executions++ % 50 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    };
    Recorder one;
    Recorder three;
    const auto sets = engine_sets(3, uneven);
    const AllResults alone = run_watched(subjects, std::span(sets).first(1), one);
    const AllResults together = run_watched(subjects, sets, three);
    EXPECT_EQ(alone.results.size(), 300u);
    EXPECT_EQ(ids(alone), ids(together));
    EXPECT_EQ(together.count(Status::pass), 300u);
}

/// Takes its time for the first result, until a number of further cases have been executed.
class SlowObserver final : public run::Observer {
public:
    explicit SlowObserver(const std::atomic<int>& executions) : executions_(executions) {}

    void on_case(const cases::Case& /*subject*/, std::size_t /*position*/) override {}
    void on_result(const run::CaseResult& /*result*/) override {
        if (results++ != 0) {
            return;
        }
        const int before = executions_;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (executions_ < before + 8 && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        meanwhile = executions_ - before;
    }

    int results = 0;
    int meanwhile = 0;

private:
    const std::atomic<int>& executions_;
};

TEST(SeveralAtATime, WhileOneThreadReportsTheOtherGoesOn) {
    std::atomic<int> executions{0};
    Behaviour counting;
    counting.at_step = [&](const std::string& step) { executions += step == "execute" ? 1 : 0; };
    SlowObserver observer(executions);
    const auto sets = engine_sets(2, counting);
    const auto subjects = numbered(200);
    const run::CaseSource source{subjects.size(), [&](const auto& /*is_compared*/) {
                                     return [&](std::size_t position) {
                                         return std::make_shared<const cases::Case>(subjects[position]);
                                     };
                                 }};
    (void)run::run_cases(source, sets, observer);
    EXPECT_EQ(observer.results, 200);
    EXPECT_GE(observer.meanwhile, 8);
}

TEST(SeveralAtATime, FailFastEndsWithTheFirstFailureInTheirOrder) {
    auto subjects = numbered(200);
    for (const std::size_t wrong : {150u, 60u}) {
        subjects[wrong].expected = cases_of({slice_with_wrong_expected}).front().expected;
    }
    for (const std::size_t count : {1u, 4u}) {
        Recorder recorder;
        const auto sets = engine_sets(count, {});
        const AllResults run = run_watched(subjects, sets, recorder, {.fail_fast = true});
        ASSERT_EQ(run.results.size(), 61u);
        EXPECT_EQ(run.results.back().subject->id, "some/60");
        EXPECT_EQ(run.failures(), 1u);
    }
}

TEST(SeveralAtATime, ShufflesAndRepetitions) {
    const auto subjects = numbered(50);
    Recorder first;
    Recorder second;
    const auto sets = engine_sets(2, {});
    const run::RunSettings settings{.repeat = 2, .shuffle = 5};
    const AllResults run = run_watched(subjects, sets, first, settings);
    ASSERT_EQ(run.results.size(), 100u);
    const auto order = ids(run);
    EXPECT_EQ(std::set<std::string>(order.begin(), order.begin() + 50).size(), 50u);
    EXPECT_EQ(std::set<std::string>(order.begin() + 50, order.end()).size(), 50u);
    EXPECT_NE(std::vector(order.begin(), order.begin() + 50), std::vector(order.begin() + 50, order.end()));
    EXPECT_EQ(run.results[49].repetition, 0u);
    EXPECT_EQ(run.results[50].repetition, 1u);
    EXPECT_EQ(ids(run_watched(subjects, sets, second, settings)), order);
}

TEST(SeveralAtATime, AnExceptionEndsTheRunAndReachesTheCaller) {
    const run::CaseSource broken{100, [](const auto& /*is_compared*/) {
                                     return [](std::size_t position) -> std::shared_ptr<const cases::Case> {
                                         if (position == 30) {
                                             throw std::runtime_error("no more");
                                         }
                                         return nullptr;
                                     };
                                 }};
    Recorder recorder;
    const auto sets = engine_sets(3, {});
    EXPECT_THROW((void)run::run_cases(broken, sets, recorder), std::runtime_error);
}

constexpr std::string_view repeated_element = R"({ "name": "repeated", "operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1000], "Strides": [0] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
              "InputWindowOffsets": [0], "InputWindowSizes": [2], "InputWindowStrides": [1] },
    "inputs": { "InputTensor": { "value": 1 } } })";

/// 4-bit elements with a stride of 0, so that a single element in memory stands for all.
constexpr std::string_view repeated_nibble = R"({ "name": "nibble", "operator": "DEQUANTIZE",
    "desc": { "InputTensor": { "DataType": "INT4", "Sizes": [1, 1, 1, 1000], "Strides": [0, 0, 0, 0] },
              "QuantizationType": "SCALE",
              "QuantizationTensors": [{ "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] }],
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1000] } },
    "inputs": { "InputTensor": { "value": 1 }, "QuantizationTensors[0]": [1] } })";

/// A legal descriptor that the case expects to be rejected.
constexpr std::string_view unjustly_rejected = R"({ "name": "unjust", "operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] },
    "expectError": "E_INVALIDARG" })";

/// Engines may allocate memory for tensors when they compile.
TEST(Memory, TooLargeCasesDoNotReachTheEngine) {
    const auto subjects = cases_of({normalization, illegal_slice, unjustly_rejected});
    std::vector<std::string> steps;
    Behaviour behaviour;
    behaviour.at_step = [&](const std::string& step) { steps.push_back(step); };
    FakeEngine engine(behaviour);
    run::CaseSettings settings;
    settings.max_memory = 1;
    EXPECT_EQ(run::run_case(subjects[0], engine, settings).status, Status::skip);
    EXPECT_EQ(run::run_case(subjects[2], engine, settings).status, Status::skip) << "it is legal, and may be compiled";
    EXPECT_TRUE(steps.empty());
    (void)run::run_case(subjects[1], engine, settings);
    EXPECT_FALSE(steps.empty()) << "what has to be rejected has no size";
}

/// A graph of two nodes with four floats as input, as intermediate value and as output.
std::string graph_of_two(std::string_view op, std::string_view members) {
    return fmt::format(R"({{ "name": "two", "graph": {{ "nodes": [
        {{ "name": "a", "operator": "{0}", "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }},
           "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }}{1} }},
           "inputs": {{ "InputTensor": "x" }}, "outputs": {{ "OutputTensor": "t" }} }},
        {{ "name": "b", "operator": "{0}", "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }},
           "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }}{1} }},
           "inputs": {{ "InputTensor": "t" }}, "outputs": {{ "OutputTensor": "y" }} }}],
        "outputs": ["y"] }}, "inputs": {{ "x": [1, 2, 3, 4] }} }})",
                       op, members);
}

TEST(Memory, GraphsNeedRoomForFurtherRunsWhereTheyHaveSome) {
    const std::string exact =
        graph_of_two("SLICE1", R"(, "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [1])");
    const std::string rounded = graph_of_two("ACTIVATION_TANH", "");
    // Input and output count as for other cases. In addition, the run keeps two values, and the engine and the
    // reference each have two at a time.
    constexpr std::uint64_t plain = 2 * 16 + 4 * 16 + 2 * 16 + 2 * 32;
    EXPECT_EQ(run::memory_needed(cases_of({exact})[0]), plain);
    EXPECT_EQ(run::memory_needed(cases_of({rounded})[0]), plain + 16 * 32 + 26 * 4);
}

TEST(Memory, CasesThatNeedTooMuchAreSkipped) {
    const auto subjects = cases_of({slice_with_expected, normalization});
    // Four floats as input, two or four as output, and the slack of the second case's elements.
    EXPECT_EQ(run::memory_needed(subjects[0]), 2 * 16u + 4 * 8u);
    EXPECT_EQ(run::memory_needed(subjects[1]), 2 * 16u + 4 * 16u + 26 * 4u);
    EXPECT_EQ(run::memory_needed(subjects[0], {.sent = true}), 6 * 16u + 8 * 8u);
    EXPECT_EQ(run::memory_needed(subjects[0], {.evidence = true}), 3 * 16u + 5 * 8u);
    // The single element in memory is expanded to 1000 elements.
    EXPECT_EQ(run::memory_needed(cases_of({repeated_element})[0]), 2 * 4u + 1000 * 4u + 4 * 8u);
    // Input and scale twice, the expanded 4-bit elements, the output, and the slack of its elements.
    EXPECT_EQ(run::memory_needed(cases_of({repeated_nibble})[0]), 2 * 8u + 501u + 4 * 4000u + 26 * 1000u);
    run::RunSettings settings;
    settings.cases.max_memory = 100;
    const auto sets = engine_sets(1, {});
    const AllResults run = run_all(subjects, sets[0], settings);
    EXPECT_EQ(run.results[0].status, Status::pass);
    EXPECT_EQ(run.results[1].status, Status::skip);
    EXPECT_EQ(run.results[1].reason, "needs about 200 bytes of memory; 100 bytes are allowed");
}

TEST(Evidence, OfFailuresWhenItIsAskedFor) {
    const auto subjects = cases_of({slice_with_wrong_expected, slice_with_expected});
    const auto sets = engine_sets(1, {});
    EXPECT_EQ(run_all(subjects, sets[0]).results[0].evidence, nullptr);
    run::RunSettings settings;
    settings.cases.keep_evidence = true;
    const AllResults run = run_all(subjects, sets[0], settings);
    ASSERT_NE(run.results[0].evidence, nullptr);
    EXPECT_EQ(run.results[1].evidence, nullptr) << "a pass";
    const run::Evidence& evidence = *run.results[0].evidence;
    EXPECT_EQ(evidence.inputs.at(0).as<float>()[2], 3.0f);
    EXPECT_EQ(evidence.actual.at(0).as<float>()[1], 3.0f);
    EXPECT_EQ(evidence.expected.at(0).as<float>()[0], 1.0f);
}

}  // namespace
}  // namespace dmlconform::tests::several_at_a_time_test

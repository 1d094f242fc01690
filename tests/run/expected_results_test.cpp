// Tests how expectations change results, and how cases are skipped or repeated because of them.
#include "engine/run/expected_results.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/core/guard.h"
#include "engine/engine_lost.h"
#include "engine/expectations/expectation_file.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::run::expected_results_test {
namespace {

using expectations::Expectation;
using expectations::Expected;
using tests::Behaviour;
using tests::cases_of;

constexpr const char* id = "some/with-expected";

Expectation expectation(Expected expected, std::string pattern = id, std::string engine = "*") {
    Expectation entry;
    entry.cases = {std::move(pattern)};
    entry.engine = std::move(engine);
    entry.expected = expected;
    entry.reason = "it is known";
    entry.file = "e.json";
    entry.line = 3;
    return entry;
}

void break_output(std::span<core::Tensor* const> outputs) {
    outputs[0]->buffer.bytes()[0] = std::byte{0x55};
}

Behaviour wrong() {
    Behaviour behaviour;
    behaviour.change = break_output;
    return behaviour;
}

Behaviour throwing(EngineLost::Kind kind) {
    Behaviour behaviour;
    behaviour.at_step = [kind](const std::string& step) {
        if (step == "execute") {
            throw EngineLost(kind, "lost");
        }
    };
    return behaviour;
}

Behaviour broken() {
    Behaviour behaviour;
    behaviour.execute_error = "no luck";
    return behaviour;
}

/// An engine whose first `times` executions are wrong.
Behaviour wrong_at_first(unsigned times) {
    Behaviour behaviour;
    behaviour.change = [left = times](std::span<core::Tensor* const> outputs) mutable {
        if (left > 0) {
            --left;
            break_output(outputs);
        }
    };
    return behaviour;
}

class Expecting : public testing::Test {
protected:
    CaseResult run(Behaviour behaviour, std::vector<Expectation> list,
                   std::string_view text = tests::slice_with_expected) {
        cases_ = cases_of({text});
        engines_.clear();
        engines_.push_back(std::make_unique<tests::FakeEngine>(std::move(behaviour)));
        expected_ = std::make_unique<ExpectedResults>(std::move(list), *expectations::parse_date("2026-06-15"));
        RunSettings settings;
        settings.expected = expected_.get();
        result_ = tests::run_all(cases_, engines_, settings);
        return result_.results.at(0);
    }

    std::vector<cases::Case> cases_;
    std::vector<std::unique_ptr<Engine>> engines_;
    std::unique_ptr<ExpectedResults> expected_;
    tests::AllResults result_;
};

TEST_F(Expecting, FailuresOfTheKindThatIsExpected) {
    struct {
        Behaviour behaviour;
        Status status;
        Expected expected;
    } const cases[] = {{wrong(), Status::fail, Expected::fail},
                       {broken(), Status::error, Expected::error},
                       {throwing(EngineLost::Kind::crashed), Status::crash, Expected::crash},
                       {throwing(EngineLost::Kind::timed_out), Status::timeout, Expected::timeout}};
    for (const auto& entry : cases) {
        EXPECT_EQ(run(entry.behaviour, {}).status, entry.status);
        const CaseResult result = run(entry.behaviour, {expectation(entry.expected)});
        EXPECT_EQ(result.status, Status::xfail);
        EXPECT_EQ(result.actual, entry.status);
        ASSERT_EQ(result.expectation, expected_->all().data());
        EXPECT_TRUE(result_.passed());
        EXPECT_TRUE(expected_->unused().empty());
        for (const Expected other : {Expected::fail, Expected::error, Expected::crash, Expected::timeout}) {
            if (other != entry.expected) {
                const CaseResult mismatch = run(entry.behaviour, {expectation(other)});
                EXPECT_EQ(mismatch.status, entry.status);
                EXPECT_NE(mismatch.reason.find(std::string("; e.json:3 expects ") + to_string(other) + " instead"),
                          std::string::npos)
                    << mismatch.reason;
                EXPECT_FALSE(result_.passed());
            }
        }
        // If several expectations match, the one with the right status decides.
        EXPECT_EQ(run(entry.behaviour, {expectation(Expected::fail), expectation(Expected::error),
                                        expectation(Expected::crash), expectation(Expected::timeout)})
                      .status,
                  Status::xfail);
    }
}

TEST_F(Expecting, AFailureThatDoesNotComeFailsTheGate) {
    for (const Expected expected : {Expected::fail, Expected::error, Expected::crash, Expected::timeout}) {
        const CaseResult result = run({}, {expectation(expected, "some/*")});
        EXPECT_EQ(result.status, Status::xpass);
        EXPECT_EQ(result.actual, Status::pass);
        EXPECT_EQ(result.reason,
                  std::string("the case passes, but e.json:3 expects ") + to_string(expected) + ": it is known");
        EXPECT_FALSE(result_.passed());
        EXPECT_EQ(result_.failures(), 1u);
    }
}

TEST_F(Expecting, WhatIsNotMeantStaysAsItIs) {
    const std::vector<Expectation> others{expectation(Expected::fail, "some/other"),
                                          expectation(Expected::fail, id, "cpu"),
                                          expectation(Expected::fail, "some/with")};
    EXPECT_EQ(run({}, others).status, Status::pass);
    EXPECT_EQ(run(wrong(), others).status, Status::fail);
    // An expectation for another engine is not reported as unused.
    const auto unused = expected_->unused();
    ASSERT_EQ(unused.size(), 2u);
    EXPECT_EQ(unused[0], &expected_->all()[0]);
    EXPECT_EQ(unused[1], &expected_->all()[2]);
}

TEST_F(Expecting, ExpiredOnesNoLongerCount) {
    Expectation entry = expectation(Expected::fail);
    entry.expires = expectations::parse_date("2026-06-15");
    EXPECT_EQ(run(wrong(), {entry}).status, Status::xfail);
    EXPECT_TRUE(expected_->expired().empty());
    entry.expires = expectations::parse_date("2026-06-14");
    EXPECT_EQ(run(wrong(), {entry}).status, Status::fail);
    EXPECT_EQ(expected_->expired().size(), 1u);
    EXPECT_TRUE(expected_->unused().empty());
}

TEST_F(Expecting, SkippedCasesAreNotRun) {
    Behaviour behaviour;
    bool touched = false;
    behaviour.at_step = [&](const std::string&) { touched = true; };
    const CaseResult result = run(behaviour, {expectation(Expected::skip), expectation(Expected::fail)});
    EXPECT_EQ(result.status, Status::skip);
    EXPECT_EQ(result.reason, "e.json:3 says not to run it: it is known");
    EXPECT_FALSE(touched);
    EXPECT_EQ(result.expectation, expected_->all().data());
    EXPECT_FALSE(result_.passed()) << "nothing was verified";
    EXPECT_EQ(expected_->uses()[0], 1u);
}

TEST_F(Expecting, FlakesAreTriedAgain) {
    Expectation entry = expectation(Expected::flake);
    entry.retries = 2;
    const CaseResult once = run(wrong_at_first(2), {entry});
    EXPECT_EQ(once.status, Status::flake);
    EXPECT_EQ(once.actual, Status::pass);
    EXPECT_EQ(once.attempts, 3u);
    EXPECT_EQ(once.reason, "it passed at attempt 3; at the first, the output differs beyond tolerance");
    EXPECT_TRUE(result_.passed());
    const CaseResult never = run(wrong_at_first(3), {entry});
    EXPECT_EQ(never.status, Status::fail);
    EXPECT_EQ(never.reason, "the output differs beyond tolerance (at the last of 3 attempts)");
    EXPECT_FALSE(result_.passed());
    const CaseResult good = run({}, {entry});
    EXPECT_EQ(good.status, Status::pass);
    EXPECT_EQ(good.attempts, 1u);
    EXPECT_TRUE(expected_->unused().empty());
    // If the case may also fail in every attempt, no result is unexpected.
    EXPECT_EQ(run({}, {entry, expectation(Expected::fail)}).status, Status::pass);
    EXPECT_EQ(run(wrong(), {entry, expectation(Expected::fail)}).status, Status::xfail);
}

TEST_F(Expecting, OfSeveralFlakesTheMostAttempts) {
    Expectation patient = expectation(Expected::flake);
    patient.retries = 3;
    Expectation hasty = patient;
    hasty.retries = 1;
    EXPECT_EQ(run(wrong_at_first(3), {patient, hasty}).status, Status::flake);
    EXPECT_EQ(run(wrong_at_first(3), {hasty, patient}).status, Status::flake);
}

TEST_F(Expecting, NothingIsRunTwiceWithoutBeingAFlake) {
    int executions = 0;
    Behaviour behaviour = wrong();
    behaviour.at_step = [&](const std::string& step) { executions += step == "execute" ? 1 : 0; };
    EXPECT_EQ(run(behaviour, {expectation(Expected::fail)}).status, Status::xfail);
    EXPECT_EQ(executions, 1);
}

TEST_F(Expecting, NothingOfTheReferenceOrOfWhatTheEngineSkips) {
    Behaviour unsupported;
    unsupported.unsupported = "no kernel";
    const CaseResult skipped = run(unsupported, {expectation(Expected::fail)});
    EXPECT_EQ(skipped.status, Status::skip);
    EXPECT_EQ(skipped.reason, "no kernel");
    EXPECT_EQ(skipped.expectation, nullptr);
    EXPECT_EQ(expected_->unused().size(), 1u);
    Behaviour reference;
    reference.name = "cpu";
    EXPECT_EQ(run(reference, {expectation(Expected::fail, "*")}, tests::slice_without_expected).status,
              Status::reference);
}

constexpr std::string_view negated = R"({ "name": "negated", "operator": "ELEMENT_WISE_NEGATE",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } },
    "inputs": { "InputTensor": [1, -2, 3, -4] }, "tolerance": { "OutputTensor": { "abs": 0.25 } } })";

/// An engine whose output elements are off by these differences.
Behaviour off_by(std::vector<float> differences) {
    Behaviour behaviour;
    behaviour.change = [differences](std::span<core::Tensor* const> outputs) {
        for (std::size_t i = 0; i < differences.size(); ++i) {
            outputs[0]->as<float>()[i] += differences[i];
        }
    };
    return behaviour;
}

TEST_F(Expecting, GraphsByTheirNodes) {
    const char* const graph = R"({ "name": "graph", "graph": { "nodes": [
        { "name": "negate", "operator": "ELEMENT_WISE_NEGATE",
          "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
                    "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } },
          "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "y" } }], "outputs": ["y"] },
        "inputs": { "x": [1, 2] }, "expected": { "y": [-1, -2] } })";
    const auto status_with = [&](std::string_view node) {
        auto file = expectations::read_expectations(
            "e.json", fmt::format(R"({{ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [ {{
                "operators": "GRAPH", "when": {{ "someNode": {{ "operators": "{}" }} }},
                "reason": "r", "status": "fail" }} ] }})",
                                  node));
        EXPECT_TRUE(file.problems.empty());
        (void)run(wrong(), std::move(file.expectations), graph);
        const auto whole = std::ranges::find_if(
            result_.results, [](const CaseResult& result) { return result.subject->graph_id.empty(); });
        return whole->status;
    };
    EXPECT_EQ(status_with("ELEMENT_WISE_NEG*"), Status::xfail);
    EXPECT_EQ(status_with("ELEMENT_WISE_ABS"), Status::fail);
}

/// The only expectation of a file, without case ids.
Expectation entry_of(const std::string& members, const std::string& status = "fail",
                     const std::string& operators = "ELEMENT_WISE_*") {
    auto file = expectations::read_expectations(
        "e.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [ {
            "finding": "signs", "reason": "they are lost", "operators": ")" +
                      operators + R"(", "status": ")" + status + "\", " + members + "} ] }");
    for (const cases::Problem& problem : file.problems) {
        throw std::logic_error("the test's entry is broken: " + to_string(problem));
    }
    return file.expectations.at(0);
}

/// The sums are off by 0.02, which is about 100 times what they would be off by in FP32: a Q between 10 and 50 times
/// its threshold. Each of them is within its range.
TEST_F(Expecting, PrecisionThatIsLessByAsMuchAsItMayBe) {
    const char* const product = R"({ "name": "product", "operator": "GEMM",
        "desc": { "ATensor": { "DataType": "FLOAT32", "Sizes": [1,1,8,4096] },
                  "BTensor": { "DataType": "FLOAT32", "Sizes": [1,1,4096,8] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,8,8] },
                  "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0 },
        "inputs": { "ATensor": { "random": "normal", "mean": 0, "stddev": 1, "seed": 1 },
                    "BTensor": { "random": "normal", "mean": 0, "stddev": 1, "seed": 2 } } })";
    Behaviour coarse;
    coarse.change = [](std::span<core::Tensor* const> outputs) {
        float error = 0.02F;
        for (float& value : outputs[0]->as<float>()) {
            value += error = -error;
        }
    };
    const auto status = [&](const std::string& more) {
        return run(coarse, {entry_of(R"("happens": "precision")" + more, "fail", "GEMM")}, product).status;
    };
    EXPECT_EQ(status(""), Status::xfail);
    EXPECT_EQ(status(R"(, "timesTolerance": 50)"), Status::xfail);
    EXPECT_EQ(status(R"(, "timesTolerance": 10)"), Status::fail);
}

TEST_F(Expecting, WhatHappensIsPartOfIt) {
    struct Row {
        const char* what;
        Behaviour behaviour;
        const char* entry;
        Status status;
    };
    const char* const below_zero = R"("elements": { "InputTensor": { "below": 0 } })";
    const Row rows[] = {
        {"a pass that was not to be", off_by({}), R"("happens": "differs")", Status::xpass},
        {"a pass that may be", off_by({}), R"("happens": "differs", "sometimes": true)", Status::pass},
        {"a difference", off_by({1}), R"("happens": "differs")", Status::xfail},
        {"a difference, not a rejection", off_by({1}), R"("happens": "rejected")", Status::fail},
        {"a condition that holds", off_by({1}), R"("when": { "InputTensor": { "values": 3 } })", Status::xfail},
        {"a condition that does not", off_by({1}), R"("when": { "InputTensor": { "values": 5 } })", Status::fail},
        {"4 times the tolerance", off_by({1}), R"("happens": "differs", "timesTolerance": 4)", Status::xfail},
        {"more than 3 times", off_by({1}), R"("happens": "differs", "timesTolerance": 3)", Status::fail},
        {"elements as they are meant", off_by({0, 1, 0, 2}), below_zero, Status::xfail},
        {"another element", off_by({1, 1, 0, 0}), below_zero, Status::fail},
        {"another element within its tolerance", off_by({0.125F, 1}), below_zero, Status::xfail},
        {"no element", off_by({}), below_zero, Status::pass},
    };
    for (const Row& row : rows) {
        const CaseResult result = run(row.behaviour, {entry_of(row.entry)}, negated);
        EXPECT_EQ(result.status, row.status) << row.what << ": " << result.reason;
    }
    EXPECT_EQ(run(off_by({1}), {entry_of(R"("happens": "rejected")")}, negated).reason,
              "the output differs beyond tolerance; e.json:1 expects fail instead: rejected");
    EXPECT_EQ(run(off_by({1}), {entry_of(below_zero)}, negated).reason,
              "the output differs beyond tolerance; e.json:1 expects other elements to differ");
}

TEST_F(Expecting, SeveralEntriesMayExplainADifferenceTogether) {
    const Expectation below = entry_of(R"("elements": { "InputTensor": { "below": 0 } })");
    const Expectation three = entry_of(R"("elements": { "InputTensor": 3 })");
    EXPECT_EQ(run(off_by({0, 1, 1, 0}), {below, three}, negated).status, Status::xfail);
    EXPECT_EQ(run(off_by({1, 1, 1, 0}), {below, three}, negated).status, Status::fail);
}

TEST_F(Expecting, InfinityForWhatIsRoundedToTheLargestNumberOfFloat16) {
    constexpr std::string_view sums = R"({ "name": "sums", "operator": "ELEMENT_WISE_ADD",
        "desc": { "ATensor": { "DataType": "FLOAT16", "Sizes": [1,1,1,5], "Strides": [8,8,8,1] },
                  "BTensor": { "DataType": "FLOAT16", "Sizes": [1,1,1,5], "Strides": [0,0,0,1] },
                  "OutputTensor": { "DataType": "FLOAT16", "Sizes": [1,1,1,5] } },
        "inputs": { "ATensor": [65504, 65504, -65504, 65472, 1], "BTensor": [0, 0.5, -15.5, 16, 1] } })";
    const Expectation overflow = entry_of(R"("elements": {
        "expected": { "magnitude": { "above": 65504, "below": 65520 } },
        "actual/expected": { "infinite": true, "negative": false } })");
    constexpr std::uint16_t inf = 0x7c00;
    constexpr std::uint16_t minus_inf = 0xfc00;
    const struct {
        std::size_t element;
        std::uint16_t actual;
        Status status;
    } rows[] = {
        {0, inf, Status::fail},                                 // 65504 is not above itself
        {1, inf, Status::xfail},                                // 65504.5
        {1, minus_inf, Status::fail},                           // the other sign
        {1, 0x7bfe, Status::fail},                              // 65472 is no infinity
        {2, minus_inf, Status::xfail},                          // -65519.5
        {2, inf, Status::fail},        {3, inf, Status::fail},  // 65488 may be rounded to 65504
        {4, inf, Status::fail},
    };
    for (const auto& row : rows) {
        Behaviour behaviour;
        behaviour.change = [&](std::span<core::Tensor* const> outputs) {
            outputs[0]->as<std::uint16_t>()[row.element] = row.actual;
        };
        const CaseResult result = run(behaviour, {overflow}, sums);
        EXPECT_EQ(result.status, row.status) << row.element << " as " << row.actual << ": " << result.reason;
    }
}

TEST_F(Expecting, WhatIsAcceptedOfAChangedCase) {
    constexpr std::string_view scaled = R"({ "name": "tanh", "operator": "ACTIVATION_SCALED_TANH",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] }, "Alpha": 0.5, "Beta": 2 },
        "inputs": { "InputTensor": [1, 0] } })";
    const auto status = [&](std::string_view more, float first, float second) {
        Behaviour behaviour;
        behaviour.change = [first, second](std::span<core::Tensor* const> outputs) {
            outputs[0]->as<float>()[0] = first;
            outputs[0]->as<float>()[1] = second;
        };
        const Expectation entry = entry_of(
            fmt::format(R"("elements": {{ "acceptedWith": {{ "Alpha": "Beta", "Beta": "Alpha" }} {} }})", more), "fail",
            "ACTIVATION_SCALED_TANH");
        return run(behaviour, {entry}, scaled).status;
    };
    // The changed case is 2 tanh(x / 2), of which FP32 has less than a thousand roundings of error.
    const float right = 2 * std::tanh(0.5F);
    EXPECT_EQ(status("", right, 0), Status::xfail);
    EXPECT_EQ(status("", right + 0x1p-23F, 0), Status::xfail);
    EXPECT_EQ(status("", right - 0x1p-23F, 0), Status::xfail);
    EXPECT_EQ(status("", right + 0x1p-13F, 0), Status::fail);
    EXPECT_EQ(status(R"(, "timesTolerance": 10000)", right + 0x1p-13F, 0), Status::xfail);
    EXPECT_EQ(status(R"(, "timesTolerance": 10)", right + 0x1p-8F, 0), Status::fail);
    EXPECT_EQ(status("", 1, 0), Status::fail);
    EXPECT_EQ(status("", right, 0.5F), Status::fail) << "the other element is wrong";
}

TEST_F(Expecting, WhatIsAcceptedOfAChangedCaseInFloat16) {
    constexpr std::string_view linear = R"({ "name": "half", "operator": "ACTIVATION_LINEAR",
        "desc": { "InputTensor": { "DataType": "FLOAT16", "Sizes": [2] },
                  "OutputTensor": { "DataType": "FLOAT16", "Sizes": [2] }, "Alpha": 2, "Beta": 5 },
        "inputs": { "InputTensor": [2, 3] } })";
    const auto status = [&](const char* times, std::uint16_t bits) {
        Behaviour behaviour;
        behaviour.change = [bits](std::span<core::Tensor* const> outputs) {
            outputs[0]->as<std::uint16_t>()[1] = bits;
        };
        const Expectation entry = entry_of(
            fmt::format(R"("elements": {{ "acceptedWith": {{ "Alpha": 5, "Beta": 2 }}, "timesTolerance": {} }})",
                        times),
            "fail", "ACTIVATION_LINEAR");
        return run(behaviour, {entry}, linear).status;
    };
    constexpr std::uint16_t seventeen = 0x4c40;
    EXPECT_EQ(status("1", seventeen), Status::xfail);
    EXPECT_EQ(status("1", seventeen + 1), Status::fail);
    EXPECT_EQ(status("2", seventeen + 1), Status::xfail) << "rounded to the next number";
    EXPECT_EQ(status("2", seventeen - 1), Status::xfail);
    EXPECT_EQ(status("2", seventeen + 2), Status::fail);
    EXPECT_EQ(status("2", seventeen - 2), Status::fail);
}

/// Numbers that have the bits of untouched memory are no failure to write if the changed case has them there.
TEST_F(Expecting, WhatLooksUnwrittenAndIsAcceptedOfAChangedCase) {
    const auto clip = [](std::string_view input) {
        return fmt::format(R"({{ "name": "clip", "operator": "ELEMENT_WISE_CLIP",
            "desc": {{ "InputTensor": {{ "DataType": "INT8", "Sizes": [6] }},
                      "OutputTensor": {{ "DataType": "INT8", "Sizes": [6] }}, "Min": -128, "Max": 100 }},
            "inputs": {{ "InputTensor": {} }} }})",
                           input);
    };
    const auto leaving = [](std::size_t first, std::size_t count) {
        Behaviour behaviour;
        behaviour.change = [first, count](std::span<core::Tensor* const> outputs) {
            std::ranges::fill(outputs[0]->buffer.bytes().subspan(first, count), core::untouched);
        };
        return behaviour;
    };
    const auto entry = [](const char* elements) { return entry_of(elements, "fail", "ELEMENT_WISE_CLIP"); };
    // -51 has the bits of untouched memory.
    const Expectation lower = entry(R"("elements": { "acceptedWith": { "Max": -51 } })");
    const Expectation any = entry(R"("elements": { "actual": -51 })");
    const std::string ends_with_it = clip("[-100, -99, 1, 2, 3, 4]");

    const CaseResult excused = run(leaving(2, 4), {lower}, ends_with_it);
    EXPECT_EQ(excused.status, Status::xfail) << excused.reason;
    EXPECT_FALSE(excused.unwritten);
    EXPECT_EQ(excused.reason.find("unwritten"), std::string::npos) << excused.reason;
    EXPECT_EQ(run(leaving(2, 4), {}, ends_with_it).status, Status::fail);
    EXPECT_EQ(run(leaving(2, 4), {any}, ends_with_it).status, Status::fail) << "nobody says that it is right";
    EXPECT_EQ(run(leaving(1, 5), {lower, any}, ends_with_it).status, Status::fail) << "the first one is -99 there";
    EXPECT_EQ(run(leaving(0, 6), {lower}, ends_with_it).status, Status::fail) << "nothing was written";
    EXPECT_EQ(run(leaving(0, 4), {lower, any}, clip("[-100, -99, -98, -97, 1, 2]")).status, Status::fail)
        << "the changed case has other numbers there";
    const std::string positive = clip("[1, 2, 3, 4, 5, 6]");
    EXPECT_EQ(run(leaving(0, 6), {lower}, positive).status, Status::xfail) << "the changed case is all of it";
    EXPECT_EQ(run(leaving(0, 6), {any}, positive).status, Status::fail) << "the whole output";
}

TEST_F(Expecting, WhatIsAllZeroIsNeverExcused) {
    constexpr std::string_view clip = R"({ "name": "clip", "operator": "ELEMENT_WISE_CLIP",
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [3] },
                  "OutputTensor": { "DataType": "INT8", "Sizes": [3] }, "Min": -128, "Max": 100 },
        "inputs": { "InputTensor": [5, 6, 7] } })";
    const auto status = [&](const char* elements) {
        Behaviour behaviour;
        behaviour.change = [](std::span<core::Tensor* const> outputs) {
            std::ranges::fill(outputs[0]->buffer.bytes().subspan(0, 3), std::byte{0});
        };
        return run(behaviour, {entry_of(elements, "fail", "ELEMENT_WISE_CLIP")}, clip).status;
    };
    EXPECT_EQ(status(R"("elements": { "acceptedWith": { "Max": 0 } })"), Status::fail);
    EXPECT_EQ(status(R"("elements": { "actual": 0 })"), Status::fail);
}

TEST_F(Expecting, WhatWasNotWrittenIsNotExcusedByAWideRange) {
    constexpr std::string_view scaled = R"({ "name": "tanh", "operator": "ACTIVATION_SCALED_TANH",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] }, "Alpha": 0.5, "Beta": 2 },
        "inputs": { "InputTensor": [1, 2] } })";
    const auto status = [&](float second) {
        Behaviour behaviour;
        behaviour.change = [second](std::span<core::Tensor* const> outputs) { outputs[0]->as<float>()[1] = second; };
        return run(behaviour,
                   {entry_of(R"("elements": { "acceptedWith": { "Alpha": "Beta", "Beta": "Alpha" },
                                              "timesTolerance": 1e30 })",
                             "fail", "ACTIVATION_SCALED_TANH")},
                   scaled)
            .status;
    };
    const float untouched = std::bit_cast<float>(0xcdcdcdcd);
    EXPECT_EQ(status(std::nextafter(untouched, 0.0F)), Status::xfail);
    EXPECT_EQ(status(untouched), Status::fail);
}

/// At 1.5, what is right is 50.5, and the variant has 7 + (1 - 7) * 1.5.
TEST_F(Expecting, WhatAVariantOfTheOperatorComputes) {
    constexpr std::string_view resampled = R"({ "name": "resampled", "operator": "RESAMPLE1",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [3] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1] }, "InterpolationMode": "LINEAR",
                  "Scales": [1], "InputPixelOffsets": [-1], "OutputPixelOffsets": [-0.5] },
        "inputs": { "InputTensor": [7, 1, 100] } })";
    const auto status = [&](float computed) {
        Behaviour behaviour;
        behaviour.change = [computed](std::span<core::Tensor* const> outputs) {
            outputs[0]->as<float>()[0] = computed;
        };
        const Expectation entry = entry_of(R"("elements": { "computedAs": "clampedOffsets" })", "fail", "RESAMPLE1");
        return run(behaviour, {entry}, resampled).status;
    };
    EXPECT_EQ(status(50.5F), Status::pass);
    EXPECT_EQ(status(-2), Status::xfail);
    EXPECT_EQ(status(-2.01F), Status::fail);
    EXPECT_EQ(status(51), Status::fail);
    EXPECT_EQ(status(std::nanf("")), Status::fail);
}

TEST_F(Expecting, WhatIsAcceptedOfLargerInputs) {
    constexpr std::string_view mean = R"({ "name": "mean", "operator": "ELEMENT_WISE_MEAN",
        "desc": { "ATensor": { "DataType": "FLOAT32", "Sizes": [1] }, "BTensor": { "DataType": "FLOAT32", "Sizes": [1] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1] } },
        "inputs": { "ATensor": [1], "BTensor": [3] } })";
    const auto status = [&](const char* changes) {
        return run(off_by({3}),
                   {entry_of(fmt::format(R"("elements": {{ "acceptedWith": {{ {} }} }})", changes), "fail",
                             "ELEMENT_WISE_MEAN")},
                   mean)
            .status;
    };
    EXPECT_EQ(status(R"("BTensor": { "atLeast": 9 })"), Status::xfail) << "(1 + 9) / 2";
    EXPECT_EQ(status(R"("BTensor": { "atLeast": 8 })"), Status::fail);
}

TEST_F(Expecting, ARejectionThatIsExpected) {
    Behaviour rejecting;
    rejecting.compile_failure = CompileFailure{CompileFailure::Kind::rejected, {}};
    EXPECT_EQ(run(rejecting, {entry_of(R"("happens": "rejected")")}, negated).status, Status::xfail);
    EXPECT_EQ(run(rejecting, {entry_of(R"("happens": "differs")")}, negated).status, Status::fail);
}

TEST_F(Expecting, AnErrorInsteadOfARejection) {
    constexpr std::string_view illegal = R"({ "name": "illegal", "operator": "ELEMENT_WISE_NEGATE",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [5] } }, "expectError": "E_INVALIDARG" })";
    Behaviour breaking;
    breaking.compile_failure = dmlconform::broken("directml", core::Error{"it does not compile", ""});
    EXPECT_EQ(run(breaking, {}, illegal).status, Status::error);
    EXPECT_EQ(run(breaking, {entry_of(R"("happens": "accepted")", "error")}, illegal).status, Status::xfail);
    EXPECT_EQ(run(breaking, {entry_of(R"("sometimes": true)", "error")}, illegal).status, Status::error)
        << "an entry for legal descriptors";
}

}  // namespace
}  // namespace dmlconform::run::expected_results_test

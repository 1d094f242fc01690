// Tests of engine/run/case_run: an engine that provides the expected values, and engines that agree with each other
// against a case.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "engine/cases/recorded_case.h"
#include "engine/core/guard.h"
#include "engine/run/case_run.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::against_test {
namespace {

using run::Status;

std::vector<std::unique_ptr<Engine>> engines_of(std::vector<Behaviour> behaviours) {
    std::vector<std::unique_ptr<Engine>> engines;
    for (Behaviour& behaviour : behaviours) {
        engines.push_back(std::make_unique<FakeEngine>(std::move(behaviour)));
    }
    return engines;
}

Behaviour named(std::string name) {
    Behaviour behaviour;
    behaviour.name = std::move(name);
    return behaviour;
}

/// An engine whose last element is 8 instead of the right value.
Behaviour wrong(std::string name) {
    Behaviour behaviour = named(std::move(name));
    behaviour.change = [](auto outputs) { outputs[0]->template as<float>()[1] = 8; };
    return behaviour;
}

std::shared_ptr<const cases::Case> only_case(std::string_view text) {
    return std::make_shared<const cases::Case>(cases_of({text}).front());
}

TEST(Against, AnyEngineMaySayWhatIsExpected) {
    const auto engines = engines_of({named("cpu"), wrong("other"), named("third")});
    run::CaseSettings settings;
    settings.against = 1;
    settings.keep_computed = true;
    const auto results = run_case(only_case(slice_without_expected), engines, settings);
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[0].status, Status::fail) << "the reference is an engine like any other then";
    EXPECT_EQ(results[0].outputs[0].expected_by, "other");
    EXPECT_TRUE(results[0].outputs[0].from_reference);
    EXPECT_EQ(results[0].difference, "1 of 2: [1] 8 expected, 3 got");
    EXPECT_EQ(results[0].computed, nullptr);
    EXPECT_EQ(results[1].status, Status::reference);
    EXPECT_EQ(results[2].status, Status::fail);
    ASSERT_NE(results[1].computed, nullptr);
    const cases::Case recorded = cases::recorded_case(cases_of({slice_without_expected}).front(), *results[1].computed);
    EXPECT_FALSE(recorded.needs_reference());
    EXPECT_EQ(run::run_case(recorded, *engines[1]).status, Status::pass);
    EXPECT_EQ(run::run_case(recorded, *engines[0]).status, Status::fail);
}

TEST(Against, WhereThatEngineComputesNothingNothingIsJudged) {
    Behaviour absent = named("other");
    absent.unsupported = "no";
    Behaviour broken = named("other");
    broken.execute_error = "lost";
    const struct {
        Behaviour behaviour;
        Status status;
        const char* reason;
    } rows[] = {{absent, Status::skip, "other has no values to compare with: no"},
                {broken, Status::error, "other has no values to compare with: lost"}};
    for (const auto& row : rows) {
        const auto engines = engines_of({named("cpu"), row.behaviour});
        run::CaseSettings settings;
        settings.against = 1;
        const auto results = run_case(only_case(slice_without_expected), engines, settings);
        EXPECT_EQ(results[0].status, Status::skip);
        EXPECT_EQ(results[0].reason, row.reason);
        EXPECT_EQ(results[1].status, row.status);
    }
}

/// Two square roots, which may be off by a rounding.
std::string square_root(std::string_view values) {
    return fmt::format(R"({{ "name": "root", "operator": "ELEMENT_WISE_SQRT",
        "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [2] }},
                  "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [2] }} }},
        "inputs": {{ "InputTensor": [{}] }} }})",
                       values);
}

/// A case that copies `count` elements of a type.
std::string identity(std::string_view type, std::string_view values, std::size_t count) {
    return fmt::format(R"({{ "name": "identity", "operator": "ELEMENT_WISE_IDENTITY",
        "desc": {{ "InputTensor": {{ "DataType": "{0}", "Sizes": [{2}] }},
                  "OutputTensor": {{ "DataType": "{0}", "Sizes": [{2}] }} }},
        "inputs": {{ "InputTensor": {1} }} }})",
                       type, values, count);
}

/// An engine that does not write these bytes of the output.
Behaviour leaving(std::size_t first, std::size_t count) {
    Behaviour behaviour = named("other");
    behaviour.change = [=](auto outputs) {
        std::ranges::fill(outputs[0]->buffer.bytes().subspan(first, count), core::untouched);
    };
    return behaviour;
}

TEST(Against, NobodyIsComparedWithWhatWasNotWritten) {
    Behaviour zeroing = named("other");
    zeroing.change = [](auto outputs) { std::ranges::fill(outputs[0]->buffer.bytes().first(8), std::byte{0}); };
    Behaviour nan = named("other");
    nan.change = [](auto outputs) { std::ranges::fill(outputs[0]->buffer.bytes().first(8), std::byte{0xff}); };
    Behaviour stray = named("other");
    stray.change = [](auto outputs) { outputs[0]->buffer.bytes()[9] = std::byte{0}; };
    const struct {
        const char* what;
        std::string text;
        Behaviour behaviour;
        Status status;
        std::string_view reason;
    } rows[] = {
        {"nothing", std::string(slice_without_expected), leaving(0, 8), Status::error,
         "OutputTensor: the engine wrote nothing to it"},
        {"half", std::string(slice_without_expected), leaving(4, 4), Status::error,
         "OutputTensor: the engine left 1 of its 2 elements unwritten"},
        {"bytes", identity("UINT8", "[1, 2, 3, 4, 5, 6]", 6), leaving(1, 4), Status::error,
         "OutputTensor: the engine left 4 of its 6 elements unwritten"},
        {"one byte alone", identity("UINT8", "[1]", 1), leaving(0, 1), Status::error,
         "OutputTensor: the engine wrote nothing to it"},
        {"zeros", std::string(slice_without_expected), zeroing, Status::error,
         "OutputTensor: it is all zero, and should not be"},
        {"zeros, where errors are bounded", square_root("4, 9"), zeroing, Status::error,
         "OutputTensor: it is all zero, and should not be"},
        {"zeros within the bounds", square_root("0, 0"), zeroing, Status::reference,
         "the case has no expected values, so the others are compared with this engine"},
        {"NaN", square_root("4, 9"), nan, Status::error, "OutputTensor: it is all NaN, and should not be"},
        {"NaN, rightly", square_root("-4, -9"), nan, Status::reference,
         "the case has no expected values, so the others are compared with this engine"},
        {"the guard", std::string(slice_without_expected), stray, Status::fail,
         "the engine wrote beyond the end of OutputTensor: 1 of the 256 bytes after its total size, from byte 1 on"},
        {"a short run, which may be computed", identity("UINT8", "[1, 2, 3, 4, 5, 6]", 6), leaving(1, 3),
         Status::reference, "the case has no expected values, so the others are compared with this engine"},
        {"the pattern, rightly", identity("UINT8", "[205, 205, 205, 205, 205]", 5), named("other"), Status::reference,
         "the case has no expected values, so the others are compared with this engine"},
        {"zeros, rightly", identity("FLOAT32", "[0, 0]", 2), named("other"), Status::reference,
         "the case has no expected values, so the others are compared with this engine"},
    };
    for (const auto& row : rows) {
        Behaviour same = row.behaviour;
        same.name = "same";
        const auto engines = engines_of({same, row.behaviour});
        run::CaseSettings settings;
        settings.against = 1;
        settings.keep_computed = true;
        const auto results = run_case(only_case(row.text), engines, settings);
        EXPECT_EQ(results[1].status, row.status) << row.what;
        EXPECT_EQ(results[1].reason, row.reason) << row.what;
        const bool usable = row.status == Status::reference;
        EXPECT_EQ(results[0].status, usable ? Status::pass : Status::skip) << row.what;
        EXPECT_EQ(results[1].computed != nullptr, usable) << row.what;
    }
}

TEST(Against, WhatMeansNothingNeedNotBeWritten) {
    constexpr std::string_view nonzero = R"({ "name": "nonzero", "operator": "NONZERO_COORDINATES",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [3] },
                  "OutputCountTensor": { "DataType": "UINT32", "Sizes": [1] },
                  "OutputCoordinatesTensor": { "DataType": "UINT32", "Sizes": [3, 1] } },
        "inputs": { "InputTensor": [0, 1, 0] } })";
    for (const auto& [first, status] : {std::pair(std::size_t{4}, Status::reference), {0, Status::error}}) {
        Behaviour behaviour = named("other");
        behaviour.change = [begin = first](auto outputs) {
            std::ranges::fill(outputs[1]->buffer.bytes().subspan(begin), core::untouched);
        };
        const auto engines = engines_of({behaviour});
        run::CaseSettings settings;
        settings.against = 0;
        EXPECT_EQ(run_case(only_case(nonzero), engines, settings)[0].status, status) << first;
    }
}

TEST(Against, WithoutAReferenceWhatLooksUnwrittenIsNotCompared) {
    const auto pattern = only_case(identity("UINT8", "[205, 205, 205, 205, 205]", 5));
    const auto zeros = only_case(identity("UINT8", "[0, 0]", 2));
    const WithoutReference identities("ELEMENT_WISE_IDENTITY");
    const auto engines = engines_of({named("other")});
    run::CaseSettings settings;
    settings.against = 0;
    EXPECT_EQ(run_case(pattern, engines, settings)[0].status, Status::error);
    EXPECT_EQ(run_case(zeros, engines, settings)[0].status, Status::reference);
}

TEST(Against, AnswersOfAnEngine) {
    const auto engines = engines_of({wrong("other")});
    const auto answer = run::answer_of(cases_of({slice_without_expected}).front(), *engines[0]);
    EXPECT_EQ(answer.status, Status::reference);
    ASSERT_NE(answer.computed, nullptr);
    EXPECT_EQ((*answer.computed)[0].as<float>()[1], 8);
}

TEST(Dispute, EnginesThatAgreeAgainstTheCase) {
    Behaviour other_wrong = wrong("b");
    other_wrong.change = [](auto outputs) { outputs[0]->template as<float>()[1] = 9; };
    const struct {
        const char* what;
        std::string_view text;
        std::vector<Behaviour> behaviours;
        const char* hint;
    } rows[] = {
        {"two that compute the same",
         slice_with_wrong_expected,
         {wrong("a"), wrong("b")},
         "suspect the expected values: a and b agree with each other"},
        {"two that do not", slice_with_wrong_expected, {wrong("a"), other_wrong}, ""},
        {"one that agrees with the case", slice_with_expected, {wrong("a"), named("b")}, ""},
        {"one alone, and the reference",
         slice_with_wrong_expected,
         {named("a")},
         "suspect the expected values: a agrees with the reference"},
        {"one alone, and wrong", slice_with_wrong_expected, {wrong("a")}, ""},
        {"the reference alone", slice_with_wrong_expected, {named("cpu")}, ""},
        {"two that leave the same element unwritten", slice_with_wrong_expected, {leaving(4, 4), leaving(4, 4)}, ""},
        {"against the reference there is no dispute", slice_without_expected, {wrong("a"), wrong("b")}, ""},
    };
    for (const auto& row : rows) {
        const auto results = run::run_case(only_case(row.text), engines_of(row.behaviours));
        EXPECT_EQ(results[0].hint, row.hint) << row.what;
    }
}

TEST(Dispute, ARetryIsHeardOnce) {
    const auto engines = engines_of({wrong("a")});
    expectations::Expectation entry;
    entry.cases = {"*"};
    entry.expected = expectations::Expected::flake;
    entry.retries = 3;
    run::ExpectedResults expected({entry}, expectations::today());
    const std::vector<EngineInfo> infos{engines[0]->info()};
    expected.set_engines(infos);
    run::CaseSettings settings;
    settings.expected = &expected;
    EXPECT_EQ(run_case(only_case(slice_with_wrong_expected), engines, settings)[0].hint, "")
        << "an engine agrees with itself at each attempt";
}

}  // namespace
}  // namespace dmlconform::tests::against_test

// engine/run/case_run: an engine that says what is expected, and engines that agree against a case.
#include <gtest/gtest.h>

#include "engine/cases/recorded_case.h"
#include "engine/run/case_run.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

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

/// The last of two outputs elements is 8.
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

// Tests of engine/run/unverified: which results verify a case, and the message for those that do not.
#include "engine/run/unverified.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::unverified_test {
namespace {

using run::Shown;
using run::Status;
using testing::ElementsAre;

TEST(Unverified, ByStatus) {
    for (const Status status : {Status::pass, Status::flake}) {
        EXPECT_EQ(run::shown_by(status, false, Shown::all), Shown::all) << to_string(status);
        EXPECT_EQ(run::shown_by(status, false, Shown::part), Shown::part) << to_string(status);
    }
    for (const Status status :
         {Status::fail, Status::error, Status::crash, Status::timeout, Status::xfail, Status::xpass}) {
        EXPECT_EQ(run::shown_by(status, false, Shown::all), Shown::all) << to_string(status);
    }
    EXPECT_EQ(run::shown_by(Status::reference, false, Shown::part), Shown::nothing);
    EXPECT_EQ(run::shown_by(Status::skip, false, Shown::all), Shown::nothing);
    EXPECT_EQ(run::shown_by(Status::skip, true, Shown::all), Shown::all) << "a file of expectations says so";
}

TEST(Unverified, SentencesNameAFew) {
    run::Unverified unverified;
    EXPECT_FALSE(unverified.any());
    EXPECT_THAT(unverified.sentences(), ElementsAre());
    unverified.add("a", Shown::all);
    EXPECT_FALSE(unverified.any());
    unverified.add("b", Shown::nothing, "d3d12: no shader");
    EXPECT_TRUE(unverified.any());
    EXPECT_THAT(unverified.sentences(),
                ElementsAre("Verified by no engine: 1 of 2 cases: b", "  1 case: d3d12: no shader (b)"));
    for (const char* id : {"c", "d", "e"}) {
        unverified.add(id, Shown::nothing, "d3d12: too large");
    }
    unverified.add("p", Shown::part);
    unverified.filters = {"x*"};
    EXPECT_THAT(unverified.sentences(),
                ElementsAre("Verified by no engine: 4 of 6 cases, among them b, c, d",
                            "  3 cases: d3d12: too large (for example c)", "  1 case: d3d12: no shader (b)",
                            "Verified in part, because only the reference computed an output without expected values: "
                            "1 of 6 cases: p",
                            "The filter x* matches none of the cases"));
}

TEST(Unverified, TolerancesWithoutPowerAreNamed) {
    EXPECT_EQ(run::shown_by(Status::pass, false, Shown::powerless), Shown::powerless);
    EXPECT_EQ(run::shown_by(Status::fail, false, Shown::powerless), Shown::all);
    run::Unverified unverified;
    unverified.add("a", Shown::all);
    unverified.add("b", Shown::powerless, "OutputTensor: the tolerance also accepts zeros");
    EXPECT_TRUE(unverified.any());
    EXPECT_THAT(unverified.sentences(), ElementsAre("Passed within a tolerance that says nothing: 1 of 2 cases: b",
                                                    "  1 case: OutputTensor: the tolerance also accepts zeros (b)"));
}

TEST(Unverified, APassWithoutPowerIsSeen) {
    const auto cases = cases_of({R"({ "name": "wide", "operator": "ELEMENT_WISE_NEGATE",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [3] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] } },
        "inputs": { "InputTensor": [1, -2, 3] }, "expected": { "OutputTensor": [-1, 2, -3] },
        "tolerance": { "*": { "abs": 3 } } })",
                                 slice_with_expected});
    FakeEngine engine(Behaviour{});
    const run::CaseResult result = run::run_case(cases[0], engine);
    EXPECT_EQ(result.status, Status::pass);
    EXPECT_EQ(run::powerless_reason(result), "OutputTensor: the tolerance also accepts zeros");
    EXPECT_EQ(run::shown_by(result), Shown::powerless);
    EXPECT_EQ(run::shown_by(run::run_case(cases[1], engine)), Shown::all);
}

TEST(Unverified, OfManyReasonsTheMostFrequent) {
    run::SharedReasons reasons;
    for (std::size_t i = 0; i < 10; ++i) {
        reasons["reason " + std::to_string(i)] = {i + 1, "x"};
    }
    const auto lines = run::reason_lines(reasons, "result");
    ASSERT_EQ(lines.size(), 9u);
    EXPECT_EQ(lines.front(), "10 results: reason 9 (for example x)");
    EXPECT_EQ(lines.back(), "and 2 more reasons");
}

TEST(Unverified, OneEngineOfSeveralIsEnough) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, top_k_half_expected});
    Behaviour reference;
    reference.name = "cpu";
    run::EngineSet alone;
    alone.push_back(std::make_unique<FakeEngine>(reference));
    run::EngineSet both;
    both.push_back(std::make_unique<FakeEngine>(reference));
    both.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    const auto unverified_on = [&](const run::EngineSet& engines) {
        std::vector<std::shared_ptr<const cases::Case>> copies;
        for (const cases::Case& entry : cases) {
            copies.push_back(std::make_shared<const cases::Case>(entry));
        }
        const run::CaseSource source{
            copies.size(), [&](const auto& /*is_compared*/) { return [&](std::size_t i) { return copies[i]; }; }};
        Recorder recorder;
        return run::run_cases(source, {&engines, 1}, recorder).unverified;
    };
    const auto by_reference = unverified_on(alone);
    EXPECT_EQ(by_reference.of, 3u);
    EXPECT_THAT(by_reference.examples, ElementsAre("some/without-expected"));
    EXPECT_THAT(by_reference.in_part_examples, ElementsAre("some/half-expected"));
    EXPECT_FALSE(unverified_on(both).any());
}

}  // namespace
}  // namespace dmlconform::tests::unverified_test

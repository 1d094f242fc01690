// Tests of engine/run/case_run: what a run records about a case besides its status.
#include "engine/run/case_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::case_run_test {
namespace {

TEST(RunCase, EveryOutputHasAGuard) {
    const auto cases = cases_of({top_k_half_expected});
    for (std::size_t output = 0; output < 2; ++output) {
        Behaviour behaviour;
        behaviour.change = [output](std::span<core::Tensor* const> outputs) {
            outputs[output]->buffer.bytes().back() = std::byte{0};
        };
        FakeEngine engine(behaviour);
        const run::CaseResult result = run::run_case(cases[0], engine);
        EXPECT_EQ(result.status, run::Status::fail) << output;
        ASSERT_EQ(result.stray_writes.size(), 1u) << output;
        EXPECT_EQ(result.stray_writes[0].name, output == 0 ? "OutputValueTensor" : "OutputIndexTensor");
    }
}

TEST(RunCase, FurtherExecutions) {
    const auto cases = cases_of({slice_with_expected, slice_with_wrong_expected});
    int executions = 0;
    Behaviour behaviour;
    behaviour.at_step = [&](const std::string& step) { executions += step == "execute" ? 1 : 0; };
    FakeEngine engine(behaviour);
    EXPECT_EQ(run::run_case(cases[0], engine).timing.steady, std::nullopt);
    EXPECT_EQ(executions, 1);
    run::CaseSettings settings;
    settings.further_executions = 3;
    EXPECT_TRUE(run::run_case(cases[0], engine, settings).timing.steady.has_value());
    EXPECT_EQ(executions, 5);
    EXPECT_EQ(run::run_case(cases[1], engine, settings).timing.steady, std::nullopt) << "what is wrong is not timed";
    EXPECT_EQ(executions, 6);
}

TEST(RunCase, FailuresHaveErrorMaps) {
    const auto cases = cases_of({slice_with_expected, slice_with_wrong_expected});
    FakeEngine engine(Behaviour{});
    EXPECT_FALSE(run::run_case(cases[0], engine).outputs.at(0).error_map);
    const auto map = run::run_case(cases[1], engine).outputs.at(0).error_map;
    ASSERT_TRUE(map);
    EXPECT_EQ(map->used.size(), map->rows * map->columns);
    EXPECT_GT(*std::max_element(map->used.begin(), map->used.end()), 1);
}

}  // namespace
}  // namespace dmlconform::tests::case_run_test

// Tests of engine/report/element_lines and failure_causes: numbers that describe a failure, and summaries of many
// failures.
#include <gtest/gtest.h>

#include "engine/report/element_lines.h"
#include "engine/report/failure_causes.h"
#include "engine/report/totals_table.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::failures_test {
namespace {

using run::Status;

/// An output of which the last `wrong` elements are off by one.
run::OutputResult wrong_output(core::Dimensions sizes, std::size_t wrong) {
    const core::TensorDesc desc = core::TensorDesc::packed(core::DataType::int32, sizes);
    core::Tensor expected(desc);
    core::Tensor actual(desc);
    const auto count = static_cast<std::size_t>(*core::element_count(desc.sizes));
    for (std::size_t i = 0; i < count; ++i) {
        expected.as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
        actual.as<std::int32_t>()[i] = static_cast<std::int32_t>(i + (i >= count - wrong ? 1 : 0));
    }
    core::Tolerance exact;
    exact.exact = true;
    run::OutputResult output;
    output.name = "OutputTensor";
    output.desc = desc;
    output.comparison = compare::compare(expected, actual, exact, nullptr);
    output.shown = compare::shown_elements(expected, actual, exact, nullptr);
    return output;
}

TEST(ElementLines, SmallOutputsWholeAndOfLargeOnesTheFirstThatDiffer) {
    EXPECT_EQ(report::element_lines(wrong_output({1, 2, 3}, 1)).text(),
              "  elements    expected | actual, * beyond tolerance\n"
              "    [0,0,0]  0 1 2 | 0  1  2\n"
              "    [0,1,0]  3 4 5 | 3  4  6*\n");
    EXPECT_EQ(report::element_lines(wrong_output({4, 1}, 1)).text(),
              "  elements    expected | actual, * beyond tolerance\n"
              "    [0,0]  0 1 2 3 | 0  1  2  4*\n")
        << "single elements fill lines";
    EXPECT_EQ(report::element_lines(wrong_output({1}, 1)).text(), "") << "that is the worst one";
    const auto text = report::element_lines(wrong_output({5, 13}, 12)).text();
    EXPECT_TRUE(
        text.starts_with("  first 10    expected | actual, of 12 beyond tolerance\n"
                         "    [4,1]   53 | 54*\n"))
        << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11) << text;
}

TEST(ElementLines, LinesFit80Columns) {
    for (const core::Dimensions& sizes :
         {core::Dimensions{64}, core::Dimensions{1, 2, 32}, core::Dimensions{2, 1, 1, 9}}) {
        const std::string text = report::element_lines(wrong_output(sizes, 1));
        std::size_t longest = 0;
        for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
            longest = std::max(longest, end - at);
        }
        EXPECT_LE(longest, 80u) << text;
        EXPECT_EQ(std::count(text.begin(), text.end(), '*'), 2) << text;
    }
}

TEST(FailureCauses, AlikeAreCountedTogether) {
    const auto cases = cases_of({slice_with_wrong_expected, slice_with_expected});
    Behaviour rejecting;
    rejecting.name = "fussy";
    rejecting.compile_failure = rejected(core::HResult::invalid_argument, "bad");
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    engines.push_back(std::make_unique<FakeEngine>(rejecting));
    const AllResults run = run_all(cases, engines);
    report::FailureCauses causes;
    EXPECT_EQ(causes.summary(run.engines).text(), "");
    std::size_t most = 0;
    for (const run::CaseResult& result : run.results) {
        most = std::max(most, run::is_failure(result.status) ? causes.add(result) : 0);
    }
    EXPECT_EQ(most, 2u);
    EXPECT_EQ(causes.summary(run.engines).text(),
              "Failures by cause:\n"
              "      2 fail on fussy: the descriptor was rejected (test.rule): SLICE1 2\n"
              "      1 fail on fake: the output differs beyond tolerance (FLOAT32): SLICE1 1\n\n");
}

TEST(TotalsTable, ManyOperatorsWithoutFailuresShareARow) {
    EngineInfo engine;
    engine.name = "cpu";
    run::RunTotals totals({engine});
    for (int i = 0; i < 20; ++i) {
        totals.rows[{"OPERATOR_" + std::to_string(i), 0}].counts[static_cast<std::size_t>(Status::pass)] = 2;
    }
    totals.rows[{"WRONG", 0}].counts[static_cast<std::size_t>(Status::fail)] = 1;
    for (const auto& [key, tally] : totals.rows) {
        totals.all[0].add(tally);
    }
    const report::ConsoleStyle plain(false);
    EXPECT_EQ(report::totals_table(totals, plain).text(),
              "operator            engine  pass  fail  total time  execution\n"
              "WRONG               cpu        0     1        0 ns          -\n"
              "20 other operators  cpu       40     0        0 ns          -\n"
              "all                 cpu       40     1        0 ns          -\n");
    const std::string every = report::totals_table(totals, plain, 0, true);
    EXPECT_EQ(std::count(every.begin(), every.end(), '\n'), 23) << every;
}

}  // namespace
}  // namespace dmlconform::tests::failures_test

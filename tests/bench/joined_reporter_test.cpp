// Tests of engine/bench/joined_reporter: what other reporters get.
#include "engine/bench/joined_reporter.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace dmlconform::bench::joined_reporter_test {
namespace {

class Kept final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context& /*context*/) override { return true; }
    void ReportRuns(const std::vector<Run>& report) override { runs = report; }

    std::vector<Run> runs;
};

/// Google Benchmark computes 0 / 0 for the coefficient of variation of a counter that is always 0.
TEST(JoinedReporter, DropsCountersThatJsonCannotHave) {
    Kept kept;
    Watcher watcher;
    JoinedReporter joined(kept, 0, watcher);
    benchmark::BenchmarkReporter::Run run;
    run.run_type = benchmark::BenchmarkReporter::Run::RT_Aggregate;
    run.counters["waited"] = std::numeric_limits<double>::quiet_NaN();
    run.counters["rate"] = std::numeric_limits<double>::infinity();
    run.counters["yardstick"] = 0.5;
    joined.ReportRuns({run});
    ASSERT_EQ(kept.runs.size(), 1u);
    ASSERT_EQ(kept.runs[0].counters.size(), 1u);
    EXPECT_TRUE(kept.runs[0].counters.contains("yardstick"));
}

}  // namespace
}  // namespace dmlconform::bench::joined_reporter_test

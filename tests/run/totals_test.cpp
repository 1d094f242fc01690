// Tests of engine/run/totals: medians that are estimated without storing all numbers.
#include "engine/run/totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace dmlconform::tests::totals_test {
namespace {

using std::chrono::nanoseconds;

nanoseconds median_of(const std::vector<std::int64_t>& values) {
    run::DurationHistogram histogram;
    for (const std::int64_t value : values) {
        histogram.add(nanoseconds(value));
    }
    return histogram.median();
}

TEST(DurationHistogram, MediansToATenthOfAPercent) {
    const std::vector<std::int64_t> rows[] = {
        {5},
        {5, 5, 5},
        {300, 100},
        {100, 300, 5000},
        {1, 1000, 1'000'000, 1'000'000'000, 1'000'000'000'000},
        {123'456'789, 123'456'790, 123'456'791},
    };
    for (std::vector<std::int64_t> values : rows) {
        const auto median = static_cast<double>(median_of(values).count());
        std::sort(values.begin(), values.end());
        const auto right = static_cast<double>(values[values.size() / 2]);
        EXPECT_LE(std::abs(median - right), right / 1000) << right;
    }
}

TEST(Tally, SumsHaveTheTimesOfBoth) {
    const auto tally_of = [](std::int64_t execute) {
        run::CaseResult result;
        result.status = run::Status::pass;
        result.timing.total = nanoseconds(2 * execute);
        result.timing.execute = nanoseconds(execute);
        run::Tally tally;
        tally.add(result);
        return tally;
    };
    run::Tally sum = tally_of(100);
    sum.add(tally_of(5000));
    sum.add(tally_of(5000));
    EXPECT_EQ(sum.count(run::Status::pass), 3u);
    EXPECT_EQ(sum.total.count(), 20200);
    EXPECT_NEAR(static_cast<double>(sum.executions.median().count()), 5000, 5);
}

TEST(DurationHistogram, NothingAndLessThanNothing) {
    EXPECT_TRUE(run::DurationHistogram().empty());
    EXPECT_EQ(median_of({}).count(), 0);
    EXPECT_EQ(median_of({0}).count(), 0);
    EXPECT_EQ(median_of({-5, -7, -9}).count(), 0) << "the clock went backwards";
}

}  // namespace
}  // namespace dmlconform::tests::totals_test

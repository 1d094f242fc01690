// Tests of engine/bench/pace: how long a benchmark may take, and when it is done.
#include "engine/bench/pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace dmlconform::bench::pace_test {
namespace {

using Clock = Share::Clock;

const Clock::time_point begun{};

Clock::time_point after(double seconds) {
    return begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

TEST(Pace, SettledByTheErrorOfTheMedian) {
    const struct {
        const char* what;
        std::vector<double> seconds;
        bool settled;
    } rows[] = {
        {"four are too few", {1, 1, 1, 1}, false},
        {"five that agree", {1, 1.001, 0.999, 1, 1}, true},
        {"five that scatter", {1, 1.05, 0.95, 1.1, 0.9}, false},
        {"one outlier does not move the median", {1, 1, 1, 1.5, 1, 1}, true},
        {"a drift", {1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08}, false},
        {"nothing", {}, false},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(has_settled(row.seconds, TimedBy::host), row.settled) << row.what;
    }
}

TEST(Pace, ABudgetIsDividedAndWhatIsLeftIsPassedOn) {
    const Pace pace({.budget = 60}, begun);
    EXPECT_DOUBLE_EQ(*pace.share(10, begun).seconds, 6);
    EXPECT_DOUBLE_EQ(*pace.share(9, after(1.5)).seconds, 6.5);
    EXPECT_DOUBLE_EQ(*pace.share(1, after(50)).seconds, 10);
    EXPECT_DOUBLE_EQ(*pace.share(2, after(61)).seconds, 0) << "late, but not negative";
    EXPECT_FALSE(Pace({}, begun).share(10, begun).seconds);
}

TEST(Pace, RepetitionsFitIntoTheShare) {
    const Pace pace({.budget = 1}, begun);
    const Share share = pace.share(1, begun);
    EXPECT_NEAR(pace.min_time(share, 1, begun), 1 / 6.5, 1e-12) << "five repetitions, and what begins them";
    EXPECT_NEAR(pace.min_time(share, 0.1, begun), 0.1 / 6.5, 1e-12) << "the clock counts a tenth of what passes";
    EXPECT_DOUBLE_EQ(pace.min_time(share, 1, after(2)), 1e-4) << "one repetition that a clock can still time";
    EXPECT_DOUBLE_EQ(Pace({.budget = 100}, begun).min_time({begun, 100}, 1, begun), 0.2) << "no longer than usual";
}

TEST(Pace, AClockThatStandsStillIsGivenUp) {
    const Share unlimited{begun, std::nullopt};
    EXPECT_FALSE(Pace::stands_still(0, begun, unlimited, after(4.9)));
    EXPECT_TRUE(Pace::stands_still(0, begun, unlimited, after(5.1)));
    EXPECT_TRUE(Pace::stands_still(0, begun, std::nullopt, after(5.1)));
    EXPECT_TRUE(Pace::stands_still(1e-6, begun, unlimited, after(5.1))) << "a repetition of 1e-4 s would take 500 s";
    EXPECT_FALSE(Pace::stands_still(6e-4, begun, unlimited, after(5.1)));
    const Share share{begun, 3.0};
    EXPECT_FALSE(Pace::stands_still(0, after(1), share, after(2.9)));
    EXPECT_TRUE(Pace::stands_still(0, after(1), share, after(3.1)));
    EXPECT_FALSE(Pace::stands_still(0, after(4), share, after(4.05))) << "its clock may have steps";
    EXPECT_TRUE(Pace::stands_still(0, after(4), share, after(4.15)));
}

TEST(Pace, WithoutABudgetSlowWaysToAnEngineCostAtMostTwice) {
    const Pace pace({}, begun);
    const Share share = pace.share(1, begun);
    EXPECT_DOUBLE_EQ(pace.min_time(share, 1, begun), 0.2);
    EXPECT_DOUBLE_EQ(pace.min_time(share, 0.5, begun), 0.2);
    EXPECT_DOUBLE_EQ(pace.min_time(share, 0.1, begun), 0.04);
    EXPECT_DOUBLE_EQ(Pace({.min_time = 0.3}, begun).min_time(share, 0.1, begun), 0.3) << "asked for";
}

TEST(Pace, Enough) {
    const std::vector<double> calm{1, 1, 1, 1, 1};
    const std::vector<double> wild{1, 2, 1, 2, 1.5};
    const std::vector<double> one{1};
    const Share endless{begun, {}};
    EXPECT_TRUE(Pace({}, begun).enough(calm, TimedBy::host, 1, endless, begun));
    EXPECT_FALSE(Pace({}, begun).enough(wild, TimedBy::host, 1, endless, begun));
    EXPECT_FALSE(Pace({.repetitions = 9}, begun).enough(calm, TimedBy::host, 1, endless, begun)) << "nine, as asked";
    const Pace budget({.repetitions = 9, .budget = 3}, begun);
    const Share share = budget.share(1, begun);
    EXPECT_FALSE(budget.enough(one, TimedBy::host, 1, share, after(1.9)));
    EXPECT_TRUE(budget.enough(one, TimedBy::host, 1, share, after(2.1))) << "another one would be late";
    EXPECT_FALSE(budget.enough({}, TimedBy::host, 1, share, after(9))) << "one is measured in any case";
    EXPECT_EQ(Pace({}, begun).most_repetitions(), 9u);
    EXPECT_EQ(Pace({.repetitions = 3}, begun).most_repetitions(), 3u);
    EXPECT_EQ(Pace({.budget = 3}, begun).most_repetitions(), 99u);
}

}  // namespace
}  // namespace dmlconform::bench::pace_test

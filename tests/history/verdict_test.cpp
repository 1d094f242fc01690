// Tests of engine/history/verdict: how the newest result of a series is judged.
#include "engine/history/verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace dmlconform::history::verdict_test {
namespace {

TEST(Verdict, TheNewestChangeDecides) {
    const struct {
        const char* what;
        std::vector<double> medians;
        Verdict verdict;
    } rows[] = {
        {"nothing", {}, Verdict::too_few},
        {"too few for a change", {1, 1, 2}, Verdict::too_few},
        {"level", {1, 1, 1, 1, 1}, Verdict::as_before},
        {"a step up that stays", {1, 1, 1, 1.2, 1.2}, Verdict::slower},
        {"the newest result alone", {1, 1, 1, 1.2}, Verdict::maybe_slower},
        {"a step down that stays", {1, 1, 1, 0.8, 0.8}, Verdict::faster},
        {"the newest result alone is faster", {1, 1, 1, 0.8}, Verdict::as_before},
        {"up, and mended", {1, 1, 1, 1.2, 1.2, 1.2, 1, 1}, Verdict::faster},
        {"eight results at the new level", {1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}, Verdict::slower},
        {"nine: that is how it is now", {1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2}, Verdict::as_before},
        {"slower, and the newest result is as before", {1, 1, 1, 1, 1, 1, 1, 1, 1.2, 1.2, 1.2, 1}, Verdict::slower},
        {"slower, and the newest result is slower still",
         {1, 1, 1, 1, 1, 1, 1, 1, 1.2, 1.2, 1.2, 1.2, 1.4},
         Verdict::slower},
        {"faster, and the newest result is slower", {1, 1, 1, 1, 1, 0.8, 0.8, 0.8, 0.8, 1}, Verdict::maybe_slower},
        {"slower long ago, and the newest result is faster",
         {1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1},
         Verdict::as_before},
        {"an outlier", {1, 1, 1, 2, 1, 1}, Verdict::as_before},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(judge(row.medians).verdict, row.verdict) << row.what;
    }
    EXPECT_EQ(judge(std::vector<double>{1, 1, 1, 1.2, 1.2}).change->index, 3u);
    EXPECT_EQ(judge(std::vector<double>{1, 1, 1, 1.2, 1.2}, {.threshold = 0.25}).verdict, Verdict::as_before);
}

Series series_at(const char* benchmark, const std::vector<std::int64_t>& times) {
    Series series{benchmark, "M", "cpu", "A", {}};
    for (const std::int64_t measured : times) {
        Point& point = series.points.emplace_back();
        point.measured = measured;
        point.entry = measured;
        // The last two are slower.
        point.median = series.points.size() + 1 < times.size() ? 1 : 2;
    }
    return series;
}

TEST(Verdict, WhatTheNewestResultsDoNotHaveIsGone) {
    const std::vector<Series> all{
        series_at("removed", {1, 2, 3, 4, 5}),
        series_at("kept", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}),
        series_at("last in the first of the window", {2, 3, 4, 5, 6}),
        series_at("measured every second day", {1, 3, 5, 7, 9, 11}),
    };
    const NewestResults newest(all, 8);
    const Verdict verdicts[] = {Verdict::gone, Verdict::slower, Verdict::slower, Verdict::slower};
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(judge(all[i], changes_of(all[i], {}), newest).verdict, verdicts[i]) << all[i].benchmark;
    }
    // With a wider window, nothing is gone.
    EXPECT_TRUE(NewestResults(all, 9).have(all[0]));
    // Benchmarks that are each in a file of their own do not push each other out.
    std::vector<Series> many;
    for (std::int64_t i = 0; i < 20; ++i) {
        many.push_back(series_at("one of many", {i, i + 20, i + 40, i + 60, i + 80, i + 100, i + 120, i + 140}));
    }
    for (const Series& series : many) {
        EXPECT_TRUE(NewestResults(many, 8).have(series)) << series.points.front().measured;
    }
}

}  // namespace
}  // namespace dmlconform::history::verdict_test

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
        {"nothing", {}, Verdict::as_before},
        {"level", {1, 1, 1, 1, 1}, Verdict::as_before},
        {"a step up that stays", {1, 1, 1, 1.2, 1.2}, Verdict::slower},
        {"the newest result alone", {1, 1, 1, 1.2}, Verdict::maybe_slower},
        {"a step down that stays", {1, 1, 1, 0.8, 0.8}, Verdict::faster},
        {"the newest result alone is faster", {1, 1, 1, 0.8}, Verdict::as_before},
        {"up, and mended", {1, 1, 1, 1.2, 1.2, 1.2, 1, 1}, Verdict::faster},
        {"eight results at the new level", {1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}, Verdict::slower},
        {"nine: that is how it is now", {1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2}, Verdict::as_before},
        {"an outlier", {1, 1, 1, 2, 1, 1}, Verdict::as_before},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(judge(row.medians).verdict, row.verdict) << row.what;
    }
    EXPECT_EQ(judge(std::vector<double>{1, 1, 1, 1.2, 1.2}).change->index, 3u);
    EXPECT_EQ(judge(std::vector<double>{1, 1, 1, 1.2, 1.2}, {.threshold = 0.25}).verdict, Verdict::as_before);
}

}  // namespace
}  // namespace dmlconform::history::verdict_test

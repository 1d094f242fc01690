// Tests of engine/report/progress: the progress line of a run.
#include "engine/report/progress.h"

#include <gtest/gtest.h>

namespace dmlconform::tests::progress_test {
namespace {

using namespace std::chrono_literals;

TEST(Progress, ShareFailuresAndTimeLeft) {
    const struct {
        std::size_t done;
        std::size_t total;
        std::size_t failed;
        std::chrono::nanoseconds elapsed;
        const char* text;
    } rows[] = {{0, 480, 0, 5s, "[0/480] 0%"},
                {120, 480, 0, 1s, "[120/480] 25%"},  // too early for an estimate
                {120, 480, 3, 10s, "[120/480] 25% 3 failed 30 s left"},
                {120, 480, 0, 100s, "[120/480] 25% 5:00 min left"},
                {1, 1000, 0, 61s, "[1/1000] 0% 16:55 h left"},
                {480, 480, 0, 100s, "[480/480] 100% 0 s left"},
                {0, 0, 0, 0s, "[0/0] 100%"}};
    for (const auto& row : rows) {
        EXPECT_EQ(report::progress_text(row.done, row.total, row.failed, row.elapsed), row.text);
    }
}

}  // namespace
}  // namespace dmlconform::tests::progress_test

// Tests of engine/report/progress: the progress line of a run.
#include "engine/report/progress.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/core/resident_memory.h"

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
        EXPECT_EQ(report::progress_text(row.done, row.total, row.failed, row.elapsed, 0), row.text);
    }
}

TEST(Progress, Memory) {
    EXPECT_EQ(report::progress_text(1, 4, 0, 10s, 345'600'000), "[1/4] 25% 30 s left 346 MB");
    EXPECT_EQ(report::progress_text(0, 4, 0, 0s, 1'210'000'000), "[0/4] 0% 1.2 GB");
}

/// A vector that is written takes memory.
TEST(Progress, MemoryOfThisProcess) {
    const std::uint64_t before = core::resident_memory();
    ASSERT_GT(before, 0U);
    const std::vector<char> more(std::size_t{64} << 20, 'x');
    EXPECT_GT(core::resident_memory(), before + (std::uint64_t{32} << 20)) << more.back();
}

}  // namespace
}  // namespace dmlconform::tests::progress_test

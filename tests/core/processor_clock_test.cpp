// Tests of engine/core/processor_clock: the clock counts work and not waiting.
#include "engine/core/processor_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace dmlconform::core::processor_clock_test {
namespace {

using namespace std::chrono_literals;

TEST(ProcessorClock, CountsWork) {
    const auto begun = processor_time_of_this_process();
    if (!begun) {
        GTEST_SKIP() << "no processor clock here";
    }
    // Ends because the clock goes on only while something is computed.
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (*processor_time_of_this_process() - *begun < 30ms && std::chrono::steady_clock::now() < limit) {
    }
    EXPECT_GE(*processor_time_of_this_process() - *begun, 30ms);
}

TEST(ProcessorClock, DoesNotCountSleep) {
    if (!has_exact_processor_clock()) {
        GTEST_SKIP() << "no exact processor clock here";
    }
    const auto before = processor_time_of_this_process();
    std::this_thread::sleep_for(200ms);
    EXPECT_LT(*processor_time_of_this_process() - *before, 100ms);
}

TEST(ProcessorClock, ReadingItHasACost) {
    if (!has_exact_processor_clock()) {
        GTEST_SKIP() << "no exact processor clock here";
    }
    EXPECT_GT(cost_of_processor_clock(), 0ns);
    EXPECT_LT(cost_of_processor_clock(), 1ms);
}

}  // namespace
}  // namespace dmlconform::core::processor_clock_test

// Tests of engine/bench/conditions and of the processor use that it reads.
#include "engine/bench/conditions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "engine/core/processor_use.h"

namespace dmlconform::bench::conditions_test {
namespace {

using Clock = std::chrono::steady_clock;

void compute_for(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) {
    }
}

TEST(Yardstick, TakesAShortAndPositiveTime) {
    const auto time = measure_yardstick();
    EXPECT_GT(time.count(), 0);
    EXPECT_LT(time.count(), 0.1);
}

TEST(ProcessorUse, CountsWorkAndNotSleep) {
    const auto before = core::processor_use_of_this_thread();
    if (!before) {
        GTEST_SKIP() << "the system does not tell";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto asleep = core::processor_use_of_this_thread();
    EXPECT_LT(asleep->used - before->used, std::chrono::milliseconds(25));
    compute_for(std::chrono::milliseconds(50));
    const auto after = core::processor_use_of_this_thread();
    // The rest of the 50 ms was spent waiting for a processor, and the counter may be one tick old.
    EXPECT_GT((after->used - asleep->used) + (after->waited - asleep->waited), std::chrono::milliseconds(25));
    EXPECT_GE(after->waited, before->waited);
}

TEST(ProcessorUse, OfNoProcessIsNotKnown) {
    EXPECT_FALSE(core::processor_use_of_process(0));
    EXPECT_FALSE(core::processor_use_of_process(-1));
}

}  // namespace
}  // namespace dmlconform::bench::conditions_test

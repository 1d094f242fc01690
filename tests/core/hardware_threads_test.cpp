// Tests of engine/core/hardware_threads: the processors that the process may use, not all of the machine.
#include "engine/core/hardware_threads.h"

#include <gtest/gtest.h>

#ifdef __linux__
#include <sched.h>
#endif

namespace dmlconform::core::hardware_threads_test {
namespace {

TEST(HardwareThreads, AtLeastOne) {
    EXPECT_GE(hardware_threads(), 1u);
}

#ifdef __linux__
TEST(HardwareThreads, AsTheProcessIsRestricted) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_EQ(hardware_threads(), static_cast<unsigned>(CPU_COUNT(&before)));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
        }
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(hardware_threads(), 1u);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}
#endif

}  // namespace
}  // namespace dmlconform::core::hardware_threads_test

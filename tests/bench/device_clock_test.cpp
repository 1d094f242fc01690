// Tests of engine/bench/device_clock: a device that no driver knows has no clock.
#include "engine/bench/device_clock.h"

#include <gtest/gtest.h>

namespace dmlconform::bench::device_clock_test {
namespace {

TEST(DeviceClock, NotOfWhatIsNotThere) {
    EXPECT_FALSE(DeviceClock::of("no such device").has_value());
    EXPECT_FALSE(DeviceClock::of("").has_value());
}

}  // namespace
}  // namespace dmlconform::bench::device_clock_test

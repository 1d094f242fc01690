// Tests of engine/bench/steadiness: which repetitions measured the same conditions.
#include "engine/bench/steadiness.h"

#include <gtest/gtest.h>

#include <vector>

namespace dmlconform::bench::steadiness_test {
namespace {

TEST(Steadiness, OfRepetitions) {
    struct Row {
        const char* what;
        std::vector<double> seconds;
        bool by_host;
        bool by_device;
    };
    const Row rows[] = {
        {"all the same", {1, 1, 1, 1, 1, 1, 1, 1, 1}, false, false},
        {"scatter without a direction", {1, 1.03, 0.98, 1.02, 0.97, 1.01, 1.03, 0.98, 1}, false, false},
        {"a clock that rises", {5.5, 4.1, 3.2, 2.4, 1.9, 1.5, 1.2, 1.1, 1}, true, true},
        {"a device that gets hot", {1, 1.005, 1.01, 1.015, 1.02, 1.025, 1.03, 1.035, 1.04}, true, true},
        {"a drift that is too small", {1, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007, 1.008}, false, false},
        {"one that is far off", {1, 1, 1, 1.06, 1, 1, 1, 1, 1}, false, true},
        {"the first one cold", {3, 1, 1, 1, 1, 1, 1, 1, 1}, false, true},
        {"too few to tell", {3, 2, 1}, false, false},
        {"none", {}, false, false},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(is_unsettled(row.seconds, TimedBy::host), row.by_host) << row.what;
        EXPECT_EQ(is_unsettled(row.seconds, TimedBy::device), row.by_device) << row.what;
    }
}

}  // namespace
}  // namespace dmlconform::bench::steadiness_test

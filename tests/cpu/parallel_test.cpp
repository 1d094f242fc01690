// Tests of engine/cpu/parallel: every index is covered once, whatever its cost, and an exception reaches the caller.
#include "engine/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/hardware_threads.h"
#include "engine/cpu/distributed_loops.h"

namespace dmlconform::cpu::parallel_test {
namespace {

TEST(ParallelFor, CoversEachIndexOnce) {
    for (const std::int64_t count : {0, 1, 2, 3, 7, 64, 1000, 100'003}) {
        // From costs that are not worth a thread, over about one index per thread, to costs whose product with the
        // count overflows.
        for (const std::int64_t cost : {std::int64_t{0}, std::int64_t{1}, std::int64_t{10}, std::int64_t{199'999},
                                        std::int64_t{1'000'000}, std::int64_t{1} << 60}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
            std::atomic<bool> in_range{true};
            parallel_for(count, cost, [&](std::int64_t first, std::int64_t last) {
                if (first < 0 || last > count || first > last) {
                    in_range = false;
                    return;
                }
                for (std::int64_t i = first; i < last; ++i) {
                    ++visits[static_cast<std::size_t>(i)];
                }
            });
            EXPECT_TRUE(in_range) << count << " indices of cost " << cost;
            for (std::size_t i = 0; i < visits.size(); ++i) {
                ASSERT_EQ(visits[i], 1) << "index " << i << " of " << count << " at cost " << cost;
            }
        }
    }
}

TEST(ParallelFor, PassesExceptionsOn) {
    for (const std::int64_t cost : {std::int64_t{1}, std::int64_t{1'000'000}}) {
        // The failing index is in the first range, then in the last one; each may be on a separate thread.
        for (const std::int64_t failing : {0, 99}) {
            const auto body = [&](std::int64_t first, std::int64_t last) {
                if (first <= failing && failing < last) {
                    throw std::runtime_error("index " + std::to_string(failing));
                }
            };
            try {
                parallel_for(100, cost, body);
                FAIL() << "no exception at cost " << cost;
            } catch (const std::runtime_error& error) {
                EXPECT_EQ(std::string(error.what()), "index " + std::to_string(failing));
            }
        }
    }
}

TEST(ParallelFor, CountsLoopsOnSeveralThreads) {
    const std::uint64_t before = distributed_loops();
    parallel_for(1000, 1, [](std::int64_t, std::int64_t) {});
    EXPECT_EQ(distributed_loops(), before) << "too short for another thread";
    parallel_for(1000, 1'000'000, [](std::int64_t, std::int64_t) {});
    EXPECT_EQ(distributed_loops(), before + (core::hardware_threads() > 1 ? 1 : 0));
    std::uint64_t elsewhere = 1;
    std::thread([&] { elsewhere = distributed_loops(); }).join();
    EXPECT_EQ(elsewhere, 0u) << "each thread counts its own";
}

}  // namespace
}  // namespace dmlconform::cpu::parallel_test

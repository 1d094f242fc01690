#include "engine/core/ordered_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace dmlconform::tests::ordered_batches_test {
namespace {

using Numbers = std::vector<std::size_t>;
using Batches = core::OrderedBatches<Numbers>;

TEST(OrderedBatches, AreTakenInOrder) {
    for (const std::size_t threads : {0u, 1u, 2u, 3u, 7u}) {
        for (const std::size_t batches : {0u, 1u, 2u, 5u, 100u}) {
            Numbers taken;
            Batches(threads, batches, [](std::size_t batch, Numbers& made) {
                EXPECT_TRUE(made.empty());
                made = {2 * batch, 2 * batch + 1};
            }).take_in_order([&](const Numbers& made) {
                taken.insert(taken.end(), made.begin(), made.end());
                return true;
            });
            ASSERT_EQ(taken.size(), 2 * batches) << threads;
            EXPECT_TRUE(std::ranges::is_sorted(taken)) << threads;
        }
    }
}

TEST(OrderedBatches, MayBeLeftEarly) {
    std::size_t taken = 0;
    Batches(3, 1000, [](std::size_t /*batch*/, Numbers& /*made*/) {}).take_in_order([&](const Numbers& /*made*/) {
        return ++taken < 10;
    });
    EXPECT_EQ(taken, 10u);
}

TEST(OrderedBatches, ExceptionsOfThreadsReachTheCaller) {
    Batches batches(2, 10, [](std::size_t batch, Numbers& /*made*/) {
        if (batch == 5) {
            throw std::runtime_error("of batch 5");
        }
    });
    EXPECT_THROW(batches.take_in_order([](const Numbers& /*made*/) { return true; }), std::runtime_error);
}

TEST(OrderedBatches, ExceptionsOfTheCallerEndTheThreads) {
    Batches batches(2, 1000, [](std::size_t /*batch*/, Numbers& /*made*/) {});
    EXPECT_THROW(batches.take_in_order([](const Numbers& /*made*/) -> bool { throw std::runtime_error("enough"); }),
                 std::runtime_error);
}

}  // namespace
}  // namespace dmlconform::tests::ordered_batches_test

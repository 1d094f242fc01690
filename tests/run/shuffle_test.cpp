// Tests of engine/run/shuffle: permutations that are the same on every machine.
#include "engine/run/shuffle.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace dmlconform::tests::shuffle_test {
namespace {

std::vector<std::uint64_t> order(std::uint64_t count, std::uint64_t seed) {
    const run::Shuffle shuffle(count, seed);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < count; ++i) {
        numbers.push_back(shuffle(i));
    }
    return numbers;
}

TEST(Shuffle, EachNumberOnce) {
    for (const std::uint64_t count : {1u, 2u, 3u, 4u, 5u, 15u, 16u, 17u, 1000u, 4097u}) {
        const auto numbers = order(count, 7);
        const std::set<std::uint64_t> different(numbers.begin(), numbers.end());
        EXPECT_EQ(different.size(), count);
        EXPECT_EQ(*different.rbegin(), count - 1);
    }
}

TEST(Shuffle, TheSeedDecides) {
    EXPECT_EQ(order(1000, 3), order(1000, 3));
    const std::uint64_t seeds[] = {0, 1, 2, 3, 4, std::uint64_t{1} << 63, ~std::uint64_t{0}};
    for (const std::uint64_t a : seeds) {
        for (const std::uint64_t b : seeds) {
            EXPECT_EQ(order(1000, a) == order(1000, b), a == b) << a << " " << b;
        }
    }
    std::size_t fixed = 0;
    const auto numbers = order(1000, 3);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        fixed += numbers[i] == i ? 1 : 0;
    }
    EXPECT_LT(fixed, 20u) << "one is to be expected";
}

TEST(Shuffle, ManyNumbers) {
    const std::uint64_t count = (std::uint64_t{1} << 40) + 5;
    const run::Shuffle shuffle(count, 1);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_LT(shuffle(i), count);
    }
}

}  // namespace
}  // namespace dmlconform::tests::shuffle_test

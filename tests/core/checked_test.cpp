// Tests of engine/core/checked: products and sums up to the last value that fits 64 bits, and the first that does not.
#include "engine/core/checked.h"

#include <gtest/gtest.h>

namespace dmlconform::core::checked_test {
namespace {

constexpr std::uint64_t most = 0xffffffffffffffff;

struct Row {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::optional<std::uint64_t> result;
};

TEST(Checked, Multiply) {
    // Uses 2^64 - 1 = 3 * 5 * 17 * 257 * 641 * 65537 * 6700417 = (2^32 - 1) * (2^32 + 1).
    const Row rows[] = {
        {0, 0, 0},
        {0, most, 0},
        {1, most, most},
        {2, most / 2, most - 1},
        {2, most / 2 + 1, std::nullopt},
        {3, most / 3, most},
        {3, most / 3 + 1, std::nullopt},
        {0xffffffff, 0x100000001, most},
        {0x100000000, 0x100000000, std::nullopt},
        {0xffffffff, 0xffffffff, 0xfffffffe00000001},
        {most, most, std::nullopt},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(checked_multiply(row.a, row.b), row.result) << row.a << " * " << row.b;
        EXPECT_EQ(checked_multiply(row.b, row.a), row.result) << row.b << " * " << row.a;
    }
}

TEST(Checked, Add) {
    const Row rows[] = {
        {0, 0, 0},
        {0, most, most},
        {1, most, std::nullopt},
        {1, most - 1, most},
        {most, most, std::nullopt},
        {std::uint64_t{1} << 63, std::uint64_t{1} << 63, std::nullopt},
        {std::uint64_t{1} << 63, most >> 1, most},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(checked_add(row.a, row.b), row.result) << row.a << " + " << row.b;
        EXPECT_EQ(checked_add(row.b, row.a), row.result) << row.b << " + " << row.a;
    }
}

}  // namespace
}  // namespace dmlconform::core::checked_test

// Tests of engine/compare/ulp: distances are compared with a table and with the number of steps between neighbours.
#include "engine/compare/ulp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dmlconform::compare::ulp_test {
namespace {

template <class T>
struct Row {
    T a;
    T b;
    std::uint64_t distance;
};

template <class T, std::size_t N>
void expect_distances(const Row<T> (&rows)[N]) {
    for (const Row<T>& row : rows) {
        EXPECT_EQ(ulp_distance(row.a, row.b), row.distance) << row.a << " " << row.b;
        EXPECT_EQ(ulp_distance(row.b, row.a), row.distance) << row.b << " " << row.a;
    }
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float smallest = 0x1p-149f;

TEST(UlpDistance, Float32) {
    const Row<float> rows[] = {
        {0.0f, 0.0f, 0},
        {0.0f, -0.0f, 0},
        {0.0f, smallest, 1},
        {-0.0f, smallest, 1},
        {0.0f, -smallest, 1},
        {smallest, -smallest, 2},
        {3 * smallest, -5 * smallest, 8},
        {0x1p-126f, 0x1p-126f - smallest, 1},  // from the normal to the subnormal numbers
        {0.0f, 0x1p-126f, 0x800000},
        {1.0f, 0x1.000002p0f, 1},
        {1.0f, 0x1.fffffep-1f, 1},
        {1.0f, 2.0f, 0x800000},
        {1.0f, 4.0f, 0x1000000},
        {-1.0f, 1.0f, 2 * std::uint64_t{0x3f800000}},
        {0x1.fffffep127f, infinity, 1},
        {0x1.fffffep127f, -0x1.fffffep127f, 2 * std::uint64_t{0x7f7fffff}},
        {infinity, infinity, 0},
        {infinity, -infinity, 2 * std::uint64_t{0x7f800000}},
        {100.0f, 100.00001f, 1},
    };
    expect_distances(rows);
}

TEST(UlpDistance, Float64) {
    const Row<double> rows[] = {
        {0.0, -0.0, 0},
        {0x1p-1074, -0x1p-1074, 2},
        {1.0, 0x1.0000000000001p0, 1},
        {1.0, 0x1.fffffffffffffp-1, 1},
        {1.0, 2.0, std::uint64_t{1} << 52},
        {std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity(), 1},
        {std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest(), 2 * 0x7fefffffffffffffu},
        {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 2 * 0x7ff0000000000000u},
    };
    expect_distances(rows);
}

TEST(UlpDistance, Float16CountsItsOwnUlps) {
    struct HalfRow {
        std::uint16_t a;
        std::uint16_t b;
        std::uint64_t distance;
    };
    const HalfRow rows[] = {
        {0x0000, 0x8000, 0},      {0x0001, 0x8001, 2}, {0x03ff, 0x0400, 1},      {0x3c00, 0x3c01, 1},
        {0x3c00, 0x4000, 0x400},  {0x7bff, 0x7c00, 1}, {0x7bff, 0xfbff, 0xf7fe}, {0x7c00, 0xfc00, 0xf800},
        {0x0000, 0x3c00, 0x3c00}, {0x8000, 0x0001, 1},
    };
    for (const HalfRow& row : rows) {
        const auto a = core::Float16::from_bits(row.a);
        const auto b = core::Float16::from_bits(row.b);
        EXPECT_EQ(ulp_distance(a, b), row.distance) << std::hex << row.a << " " << row.b;
        EXPECT_EQ(ulp_distance(b, a), row.distance) << std::hex << row.a << " " << row.b;
    }
}

TEST(UlpDistance, AllHalvesInOrderAreOneApart) {
    // From -inf to +inf through both zeros, which are 0 ULPs apart.
    std::uint64_t total = 0;
    auto last = core::Float16::from_bits(0xfc00);
    for (std::uint32_t bits = 0xfc00; bits-- > 0x8000;) {
        const auto next = core::Float16::from_bits(static_cast<std::uint16_t>(bits));
        ASSERT_EQ(ulp_distance(last, next), 1u);
        total += 1;
        last = next;
    }
    ASSERT_EQ(ulp_distance(last, core::Float16::from_bits(0)), 0u);
    last = core::Float16::from_bits(0);
    for (std::uint32_t bits = 1; bits <= 0x7c00; ++bits) {
        const auto next = core::Float16::from_bits(static_cast<std::uint16_t>(bits));
        ASSERT_EQ(ulp_distance(last, next), 1u);
        total += 1;
        last = next;
    }
    EXPECT_EQ(total, ulp_distance(core::Float16::from_bits(0xfc00), core::Float16::from_bits(0x7c00)));
}

TEST(UlpDistance, NeighboursOfFloatsAreOneApart) {
    for (const float start : {-1e30f, -1.0f, -smallest, 0.0f, 1e-40f, 0.1f, 3e38f}) {
        float value = start;
        for (std::uint64_t steps = 1; steps <= 100; ++steps) {
            value = std::nextafter(value, infinity);
            ASSERT_EQ(ulp_distance(start, value), steps) << start;
        }
    }
}

template <class T>
void expect_integer_distances() {
    using Limits = std::numeric_limits<T>;
    const auto all = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(~std::make_unsigned_t<T>{0}));
    EXPECT_EQ(ulp_distance(Limits::min(), Limits::max()), all);
    EXPECT_EQ(ulp_distance(Limits::max(), Limits::min()), all);
    EXPECT_EQ(ulp_distance(Limits::max(), static_cast<T>(Limits::max() - 1)), 1u);
    EXPECT_EQ(ulp_distance(Limits::min(), static_cast<T>(Limits::min() + 1)), 1u);
    EXPECT_EQ(ulp_distance(T{5}, T{12}), 7u);
    EXPECT_EQ(ulp_distance(T{5}, T{5}), 0u);
    if constexpr (Limits::is_signed) {
        EXPECT_EQ(ulp_distance(T{-3}, T{4}), 7u);
        EXPECT_EQ(ulp_distance(T{4}, T{-3}), 7u);
        EXPECT_EQ(ulp_distance(T{0}, Limits::min()), all / 2 + 1);
    }
}

TEST(UlpDistance, Integers) {
    expect_integer_distances<std::int8_t>();
    expect_integer_distances<std::uint8_t>();
    expect_integer_distances<std::int16_t>();
    expect_integer_distances<std::uint16_t>();
    expect_integer_distances<std::int32_t>();
    expect_integer_distances<std::uint32_t>();
    expect_integer_distances<std::int64_t>();
    expect_integer_distances<std::uint64_t>();
}

TEST(UlpDistance, NansAndInfinities) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = core::Float16::from_bits(static_cast<std::uint16_t>(bits));
        const auto value = static_cast<double>(half);
        ASSERT_EQ(is_nan(half), std::isnan(value));
        ASSERT_EQ(is_infinite(half), std::isinf(value));
    }
    EXPECT_TRUE(is_nan(std::numeric_limits<float>::quiet_NaN()));
    EXPECT_TRUE(is_nan(std::numeric_limits<double>::signaling_NaN()));
    EXPECT_FALSE(is_nan(infinity));
    EXPECT_TRUE(is_infinite(-infinity));
    EXPECT_FALSE(is_infinite(0x1.fffffep127f));
    EXPECT_FALSE(is_nan(std::int32_t{-1}));
    EXPECT_FALSE(is_infinite(std::uint8_t{255}));
}

}  // namespace
}  // namespace dmlconform::compare::ulp_test

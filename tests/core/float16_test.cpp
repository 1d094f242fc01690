// Tests of engine/core/float16: both conversions for every bit pattern, and rounding against the definition of
// binary16.
#include "engine/core/float16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace dmlconform::core::float16_test {
namespace {

constexpr std::uint16_t infinity = 0x7c00;

/// The value of a finite or infinite bit pattern as defined in IEEE 754, section 3.4.
double defined_value(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const double fraction = bits & 0x3ff;
    double magnitude = std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 0) {
        magnitude = std::ldexp(fraction, -24);
    } else if (exponent == 31) {
        magnitude = std::numeric_limits<double>::infinity();
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The values of the bit patterns 0 … 0x7bff in ascending order, followed by 2^16, which stands for infinity in
/// rounding.
const std::vector<double>& magnitudes() {
    static const std::vector<double> result = [] {
        std::vector<double> values;
        for (unsigned bits = 0; bits < infinity; ++bits) {
            values.push_back(defined_value(bits));
        }
        values.push_back(65536);
        return values;
    }();
    return result;
}

/// Rounds to nearest, ties to even, by comparing both neighbours. Midpoints have 12 significant bits, so they are
/// exact.
std::uint16_t slowly_rounded(double value) {
    const unsigned sign = std::signbit(value) ? 0x8000 : 0;
    const auto& table = magnitudes();
    const auto above = std::lower_bound(table.begin(), table.end(), std::fabs(value));
    if (above == table.end()) {
        return static_cast<std::uint16_t>(sign | infinity);
    }
    auto bits = static_cast<unsigned>(above - table.begin());
    if (*above != std::fabs(value)) {
        const double midpoint = (table[bits - 1] + table[bits]) / 2;
        if (std::fabs(value) < midpoint || (std::fabs(value) == midpoint && bits % 2 == 1)) {
            --bits;
        }
    }
    return static_cast<std::uint16_t>(sign | bits);
}

bool is_nan_pattern(unsigned bits) {
    return (bits & 0x7fff) > infinity;
}

TEST(Float16, EveryPatternHasItsDefinedValueAndComesBack) {
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
        const double value = float16_bits_to_double(static_cast<std::uint16_t>(bits));
        if (is_nan_pattern(bits)) {
            ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
            // Signalling NaNs become quiet; sign and payload are kept.
            ASSERT_EQ(float16_bits_from_double(value), bits | 0x200) << std::hex << bits;
            continue;
        }
        ASSERT_EQ(value, defined_value(bits)) << std::hex << bits;
        ASSERT_EQ(std::signbit(value), bits >= 0x8000) << std::hex << bits;
        ASSERT_EQ(float16_bits_from_double(value), bits) << std::hex << bits;
    }
}

TEST(Float16, MidpointsRoundToEvenAndTheirNeighboursToTheNearer) {
    const auto& table = magnitudes();
    for (unsigned low = 0; low < infinity; ++low) {
        const double midpoint = (table[low] + table[low + 1]) / 2;
        const unsigned even = low % 2 == 0 ? low : low + 1;
        // One ULP of a double away from the midpoint, which rounding to FP32 first would lose.
        ASSERT_EQ(float16_bits_from_double(midpoint), even) << std::hex << low;
        ASSERT_EQ(float16_bits_from_double(std::nextafter(midpoint, 0.0)), low) << std::hex << low;
        ASSERT_EQ(float16_bits_from_double(std::nextafter(midpoint, 1e9)), low + 1) << std::hex << low;
        ASSERT_EQ(float16_bits_from_double(-midpoint), even | 0x8000) << std::hex << low;
        ASSERT_EQ(float16_bits_from_double(-std::nextafter(midpoint, 0.0)), low | 0x8000) << std::hex << low;
        ASSERT_EQ(float16_bits_from_double(-std::nextafter(midpoint, 1e9)), (low + 1) | 0x8000) << std::hex << low;
    }
}

TEST(Float16, RandomNumbersAgreeWithTheLookup) {
    std::mt19937_64 generator(1);
    std::uniform_real_distribution<double> exponent(-30, 20);
    for (int i = 0; i < 300'000; ++i) {
        // Alternates between arbitrary bits and numbers around the range of binary16.
        double value = std::bit_cast<double>(generator());
        if (i % 2 == 1) {
            value = std::exp2(exponent(generator)) * (i % 4 == 1 ? 1 : -1);
        }
        if (!std::isnan(value)) {
            ASSERT_EQ(float16_bits_from_double(value), slowly_rounded(value)) << std::hexfloat << value;
        }
    }
}

TEST(Float16, Boundaries) {
    struct Row {
        double value;
        unsigned bits;
    };
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Row rows[] = {
        {0.0, 0x0000},
        {-0.0, 0x8000},
        {1.0, 0x3c00},
        {-2.0, 0xc000},
        {65504.0, 0x7bff},
        {65519.99, 0x7bff},  // below the midpoint to 2^16
        {65520.0, 0x7c00},   // a tie, whose even neighbour is infinity
        {-65519.99, 0xfbff},
        {-65520.0, 0xfc00},
        {1e300, 0x7c00},
        {inf, 0x7c00},
        {-inf, 0xfc00},
        {0x1p-14, 0x0400},                // smallest normal
        {0x1p-14 - 0x1p-24, 0x03ff},      // largest subnormal
        {0x1p-14 - 0x1p-25, 0x0400},      // a tie between the two
        {0x1p-24, 0x0001},                // smallest subnormal
        {0x1p-25, 0x0000},                // a tie, rounded to even
        {0x1.8p-24, 0x0002},              // a tie, rounded to even
        {0x1.00000001p-25, 0x0001},       // above the tie
        {-0x1p-25, 0x8000},               // the sign is kept
        {5e-324, 0x0000},                 // a subnormal double
        {1 + 0x1p-11, 0x3c00},            // tie
        {1 + 0x1p-11 + 0x1p-40, 0x3c01},  // a tie after rounding to FP32, but not here
    };
    for (const Row& row : rows) {
        EXPECT_EQ(float16_bits_from_double(row.value), row.bits) << std::hexfloat << row.value;
    }
}

TEST(Float16, NanKeepsSignAndTopOfThePayload) {
    struct Row {
        std::uint64_t in;
        unsigned out;
    };
    // A double's quiet bit is bit 51; bits 50 … 42 become bits 8 … 0.
    const Row rows[] = {
        {0x7ff8000000000000, 0x7e00}, {0xfff8000000000000, 0xfe00}, {0x7ff0000000000001, 0x7e00},
        {0x7ff0040000000000, 0x7e01}, {0x7fffffffffffffff, 0x7fff}, {0xfff7fc0000000000, 0xffff},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(float16_bits_from_double(std::bit_cast<double>(row.in)), row.out) << std::hex << row.in;
    }
}

TEST(Float16, TheTypeConverts) {
    EXPECT_EQ(Float16(0.5).bits, 0x3800);
    EXPECT_EQ(Float16().bits, 0);
    EXPECT_EQ(static_cast<float>(Float16::from_bits(0x3800)), 0.5f);
    EXPECT_EQ(static_cast<int>(Float16(-3.0)), -3);
    EXPECT_FALSE((std::is_convertible_v<double, Float16>)) << "rounding must be asked for";
    EXPECT_FALSE((std::is_convertible_v<Float16, double>));
}

}  // namespace
}  // namespace dmlconform::core::float16_test

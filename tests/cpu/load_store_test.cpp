// Tests of engine/cpu/element_wise/load_store: the extreme values of every type, packed elements, strides.
#include "engine/cpu/element_wise/load_store.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/core/element.h"

namespace dmlconform::cpu::element_wise::load_store_test {
namespace {

using core::DataType;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr auto i4 = DataType::int4;
constexpr auto u4 = DataType::uint4;
constexpr auto i8 = DataType::int8;
constexpr auto u8 = DataType::uint8;
constexpr auto i16 = DataType::int16;
constexpr auto u16 = DataType::uint16;
constexpr auto i32 = DataType::int32;
constexpr auto u32 = DataType::uint32;
constexpr auto i64 = DataType::int64;
constexpr auto u64 = DataType::uint64;
constexpr auto f16 = DataType::float16;
constexpr auto f32 = DataType::float32;
constexpr auto f64 = DataType::float64;

/// Stores the number as this type and returns the resulting bits.
template <class Number>
std::uint64_t stored_bits(DataType type, Number value, Store how) {
    alignas(8) std::array<std::byte, 8> memory{};
    store(memory, {type, 0, 1}, 1, &value, how);
    return core::load_element(memory, type, 0);
}

struct RealCase {
    DataType type;
    Store how;
    double value;
    double expected;
};

TEST(Storing, RealNumbers) {
    const std::vector<RealCase> cases{
        // Real numbers, truncated and clamped; NaN becomes 0.
        {i8, Store::wrapping, 127.99, 127},
        {i8, Store::wrapping, 128, 127},
        {i8, Store::wrapping, -128.99, -128},
        {i8, Store::wrapping, -129, -128},
        {i8, Store::converting, inf, 127},
        {i8, Store::converting, -inf, -128},
        {i8, Store::converting, not_a_number, 0},
        {i8, Store::converting, -0.99, 0},
        {u8, Store::wrapping, 255.99, 255},
        {u8, Store::wrapping, 256, 255},
        {u8, Store::converting, -1, 0},
        {i16, Store::converting, 32768, 32767},
        {i16, Store::converting, -1e9, -32768},
        {u16, Store::converting, 65535.5, 65535},
        {u16, Store::converting, 1e9, 65535},
        {i32, Store::converting, 2147483647.5, 2147483647},
        {i32, Store::converting, 0x1p31, 2147483647},
        {i32, Store::converting, -0x1p31, -0x1p31},
        {i32, Store::converting, -1e30, -0x1p31},
        {u32, Store::converting, 4294967295.5, 4294967295},
        {u32, Store::converting, 0x1p32, 4294967295},
        {u32, Store::converting, -0.5, 0},
        {u32, Store::converting, not_a_number, 0},
        // Rounded to nearest even, then clamped.
        {i8, Store::rounding, 2.5, 2},
        {i8, Store::rounding, 3.5, 4},
        {i8, Store::rounding, -2.5, -2},
        {i8, Store::rounding, 127.5, 127},
        {i8, Store::rounding, -128.5, -128},
        {i8, Store::rounding, not_a_number, 0},
        {u8, Store::rounding, 254.5, 254},
        {u8, Store::rounding, 255.5, 255},
        {u8, Store::rounding, -0.5, 0},
        {i4, Store::rounding, 7.5, 7},
        {i4, Store::rounding, -9, -8},
        {u4, Store::rounding, 15.5, 15},
        {u4, Store::rounding, -1, 0},
        {u4, Store::rounding, 2.5, 2},
        // FLOAT16, rounded to nearest even.
        {f16, Store::wrapping, 65504, 65504},
        {f16, Store::wrapping, 65519.99, 65504},
        {f16, Store::wrapping, 65520, inf},
        {f16, Store::wrapping, -65520, -inf},
        {f16, Store::wrapping, 2049, 2048},
        {f16, Store::wrapping, 2051, 2052},
        {f16, Store::wrapping, 0x1p-24, 0x1p-24},
        {f16, Store::wrapping, 0x1p-25, 0},
        {f16, Store::wrapping, 0x1.8p-24, 0x1p-23},
        // FLOAT32, rounded once from double.
        {f32, Store::wrapping, 1 + 0x1p-24, 1},
        {f32, Store::wrapping, 1 + 0x1.8p-23, 1 + 0x1p-22},
        {f32, Store::wrapping, 0x1p128, inf},
        {f32, Store::wrapping, 0x1p-150, 0},
        {f64, Store::wrapping, 0x1.123456789abcdp-1000, 0x1.123456789abcdp-1000},
    };
    for (const RealCase& c : cases) {
        const double stored = core::decode_element(c.type, stored_bits(c.type, c.value, c.how));
        EXPECT_EQ(stored, c.expected) << c.value << " as " << core::name(c.type);
        EXPECT_EQ(stored_value(c.type, c.value, c.how), c.expected) << c.value << " as " << core::name(c.type);
    }
    for (const DataType type : {f16, f32, f64}) {
        EXPECT_TRUE(std::isnan(core::decode_element(type, stored_bits(type, not_a_number, Store::wrapping))));
        EXPECT_TRUE(std::signbit(core::decode_element(type, stored_bits(type, -0.0, Store::wrapping))));
    }
}

/// The largest 64-bit integers are not representable as doubles.
TEST(Storing, RealNumbersInSixtyFourBits) {
    EXPECT_EQ(stored_bits(i64, 0x1p63, Store::converting), 0x7fffffffffffffffu);
    EXPECT_EQ(stored_bits(i64, inf, Store::converting), 0x7fffffffffffffffu);
    EXPECT_EQ(stored_bits(i64, 0x1p63 - 1024, Store::converting), 0x7ffffffffffffc00u);
    EXPECT_EQ(stored_bits(i64, -0x1p63, Store::converting), 0x8000000000000000u);
    EXPECT_EQ(stored_bits(i64, -1e30, Store::converting), 0x8000000000000000u);
    EXPECT_EQ(stored_bits(u64, 0x1p64, Store::converting), 0xffffffffffffffffu);
    EXPECT_EQ(stored_bits(u64, 0x1p64 - 2048, Store::converting), 0xfffffffffffff800u);
    EXPECT_EQ(stored_bits(u64, -5.0, Store::converting), 0u);
}

struct IntegerCase {
    DataType type;
    Store how;
    std::int64_t value;
    double expected;
};

TEST(Storing, SignedIntegers) {
    const std::vector<IntegerCase> cases{
        // Integers, of which the low bits are kept.
        {i8, Store::wrapping, 128, -128},
        {i8, Store::wrapping, 300, 44},
        {u8, Store::wrapping, -1, 255},
        {i16, Store::wrapping, 90000, 24464},
        {i32, Store::wrapping, 0x80000000, -0x1p31},
        {u32, Store::wrapping, -1, 4294967295},
        // Converted to 32 bits, read as signed or unsigned like the target type, then clamped.
        {i8, Store::clamping, 128, 127},
        {i8, Store::clamping, -129, -128},
        {i8, Store::clamping, 0x80000000, -128},
        {i16, Store::clamping, 32768, 32767},
        {i32, Store::clamping, 0x80000000, -0x1p31},
        {i8, Store::converting, 200, 127},
        {i8, Store::converting, -129, -128},
        {u8, Store::converting, -1, 255},
        {u8, Store::converting, -128, 255},
        {u8, Store::converting, 256, 255},
        {u16, Store::converting, -128, 65535},
        {u32, Store::converting, -1, 4294967295},
        {u32, Store::converting, -128, 4294967168},
        {i32, Store::converting, std::int64_t{1} << 40, 2147483647},
        // Integers converted to floating-point types.
        {f32, Store::wrapping, 16777217, 16777216},
        {f32, Store::wrapping, 16777219, 16777220},
        {f16, Store::converting, 2051, 2052},
        {f16, Store::converting, -65519, -65504},
        {f16, Store::converting, 65520, inf},
        {i4, Store::wrapping, 9, 7},
        {i4, Store::wrapping, -9, -8},
        {u4, Store::wrapping, 16, 15},
    };
    for (const IntegerCase& c : cases) {
        EXPECT_EQ(core::decode_element(c.type, stored_bits(c.type, Signed(c.value), c.how)), c.expected)
            << c.value << " as " << core::name(c.type);
    }
    EXPECT_EQ(stored_bits(u64, Signed(-1), Store::converting), 0xffffffffffffffffu);
    EXPECT_EQ(stored_bits(i64, Signed(std::numeric_limits<std::int64_t>::min()), Store::converting), 1ull << 63);
}

TEST(Storing, UnsignedIntegers) {
    const std::vector<IntegerCase> cases{
        {u8, Store::wrapping, 256, 0},
        {u8, Store::converting, 256, 255},
        {i8, Store::converting, 128, 127},
        {i16, Store::converting, 65535, 32767},
        {i8, Store::converting, 2147483647, 127},
        {i8, Store::converting, 2147483648, -128},
        {i8, Store::converting, 4294967295, -1},
        {i8, Store::converting, 4294967294, -2},
        {i32, Store::converting, 4294967295, -1},
        {u16, Store::clamping, 65536, 65535},
        {f32, Store::converting, 4294967295, 4294967296},
        {f16, Store::converting, 65535, inf},
        {f16, Store::converting, 65519, 65504},
    };
    for (const IntegerCase& c : cases) {
        EXPECT_EQ(core::decode_element(c.type, stored_bits(c.type, Unsigned(c.value), c.how)), c.expected)
            << c.value << " as " << core::name(c.type);
    }
}

TEST(Loading, TheEndsOfEachType) {
    struct Case {
        DataType type;
        std::uint64_t bits;
        double value;
    };
    const std::vector<Case> cases{
        {i4, 0x8, -8},
        {i4, 0x7, 7},
        {u4, 0xf, 15},
        {i8, 0x80, -128},
        {i8, 0x7f, 127},
        {u8, 0xff, 255},
        {i16, 0x8000, -32768},
        {u16, 0xffff, 65535},
        {i32, 0x80000000, -0x1p31},
        {u32, 0xffffffff, 4294967295},
        {i64, 0x8000000000000000, -0x1p63},
        {u64, 0x8000000000000000, 0x1p63},
    };
    for (const Case& c : cases) {
        alignas(8) std::array<std::byte, 8> memory{};
        core::store_element(memory, c.type, 0, c.bits);
        double real = 0;
        load(memory, {c.type, 0, 1}, 1, &real);
        EXPECT_EQ(real, c.value) << core::name(c.type);
        Signed number;
        load(memory, {c.type, 0, 1}, 1, &number);
        EXPECT_EQ(number.bits(), static_cast<std::uint64_t>(static_cast<std::int64_t>(c.value < 0 ? c.value : 0)) |
                                     (c.value < 0 ? 0 : c.bits))
            << core::name(c.type);
        Unsigned bits;
        load_bits(memory, {c.type, 0, 1}, 1, &bits);
        if (core::bytes_of(c.type) != 0) {
            EXPECT_EQ(bits.bits(), c.bits) << core::name(c.type) << ": nothing is extended";
        }
    }
    const std::array<float, 1> half{-0.5f};
    Unsigned bits;
    load_bits(std::as_bytes(std::span(half)), {f32, 0, 1}, 1, &bits);
    EXPECT_EQ(bits.bits(), 0xbf000000u);
}

/// Loading and storing preserves all 16-bit elements.
TEST(LoadingAndStoring, BackAgain) {
    for (const DataType type : {i16, u16, f16}) {
        std::vector<std::uint16_t> all(65536);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = static_cast<std::uint16_t>(i);
        }
        std::vector<double> values(all.size());
        load(std::as_bytes(std::span(all)), {type, 0, 1}, all.size(), values.data());
        std::vector<std::uint16_t> again(all.size());
        store(std::as_writable_bytes(std::span(again)), {type, 0, 1}, all.size(), values.data(), Store::wrapping);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!std::isnan(values[i])) {
                ASSERT_EQ(again[i], all[i]) << core::name(type);
            }
        }
    }
}

TEST(LoadingAndStoring, Strides) {
    const std::array<std::int32_t, 9> memory{10, 11, 12, 13, 14, 15, 16, 17, 18};
    const auto bytes = std::as_bytes(std::span(memory));
    const auto loaded = [&](std::int64_t first, std::int64_t stride) {
        std::vector<double> values(3);
        load(bytes, {i32, first, stride}, 3, values.data());
        return values;
    };
    EXPECT_EQ(loaded(2, 1), (std::vector<double>{12, 13, 14}));
    EXPECT_EQ(loaded(2, 0), (std::vector<double>{12, 12, 12}));
    EXPECT_EQ(loaded(1, 3), (std::vector<double>{11, 14, 17}));
    EXPECT_EQ(loaded(8, -4), (std::vector<double>{18, 14, 10}));

    std::array<std::int32_t, 6> target{-1, -1, -1, -1, -1, -1};
    const std::array<double, 2> values{1, 2};
    store(std::as_writable_bytes(std::span(target)), {i32, 1, 3}, 2, values.data(), Store::wrapping);
    EXPECT_EQ(target, (std::array<std::int32_t, 6>{-1, 1, -1, -1, 2, -1}));
}

/// Two elements share a byte, the first in its low half; storing one does not change the other.
TEST(LoadingAndStoring, PackedElements) {
    std::array<std::byte, 3> memory{std::byte{0xcd}, std::byte{0xcd}, std::byte{0xcd}};
    const std::array<double, 3> values{-8, 2, 7};
    store(memory, {i4, 1, 2}, 3, values.data(), Store::wrapping);
    EXPECT_EQ(memory, (std::array<std::byte, 3>{std::byte{0x8d}, std::byte{0x2d}, std::byte{0x7d}}));
    std::vector<double> loaded(6);
    load(memory, {i4, 0, 1}, 6, loaded.data());
    EXPECT_EQ(loaded, (std::vector<double>{-3, -8, -3, 2, -3, 7}));
    load(memory, {u4, 0, 1}, 6, loaded.data());
    EXPECT_EQ(loaded, (std::vector<double>{13, 8, 13, 2, 13, 7}));
}

TEST(StoredRange, WhatImplementationsMayStore) {
    struct Case {
        DataType type;
        Store how;
        Interval results;
        Interval expected;
    };
    const std::vector<Case> cases{
        {f32, Store::wrapping, {1, 2, true}, {1, 2, true}},
        {f16, Store::wrapping, {1, 2, false}, {1, 2, false}},
        {f16, Store::wrapping, {1 + 0x1p-12, 1 + 0x1p-11, false}, {1, 1 + 0x1p-10, false}},
        // Nobody rounds away from zero, except where two numbers are equally near.
        {f16, Store::wrapping, {1 + 0x1p-12, 1 + 0x1p-12, false}, {1, 1, false}},
        {f16, Store::wrapping, {1 + 0x1.8p-11, 1 + 0x1.8p-11, false}, {1, 1 + 0x1p-10, false}},
        {f16, Store::wrapping, {-1 - 0x1p-12, -1, false}, {-1, -1, false}},
        {f16, Store::wrapping, {-1 - 0x1p-11, -1, false}, {-1 - 0x1p-10, -1, false}},
        {f16, Store::wrapping, {-1 - 0x1.8p-11, -1 - 0x1p-11, false}, {-1 - 0x1p-10, -1, false}},
        {f16, Store::wrapping, {0, 0x1p-30, false}, {0, 0, false}},
        {f16, Store::wrapping, {0, 0x1.8p-25, false}, {0, 0x1p-24, false}},
        {f16, Store::wrapping, {-0x1.8p-25, 0, false}, {-0x1p-24, 0, false}},
        {f16, Store::wrapping, {65504, 65505, false}, {65504, 65504, false}},
        {f16, Store::wrapping, {65504, 65520, false}, {65504, inf, false}},
        {f16, Store::wrapping, {70000, 70000, false}, {65504, inf, false}},
        {f16, Store::wrapping, {-inf, -inf, true}, {-inf, -inf, true}},
        {u8, Store::wrapping, {3.2, 4.7, false}, {3, 4, false}},
        {u8, Store::rounding, {3.2, 4.7, false}, {3, 5, false}},
        {u8, Store::rounding, {-3, 300, false}, {0, 255, false}},
        {u8, Store::rounding, {3, 4, true}, {0, 4, false}},
        {i4, Store::rounding, {-20, 20, false}, {-8, 7, false}},
    };
    for (const Case& c : cases) {
        const Interval range = stored_range(c.type, c.results, c.how);
        EXPECT_EQ(range.low, c.expected.low) << core::name(c.type) << " from " << c.results.low;
        EXPECT_EQ(range.high, c.expected.high) << core::name(c.type) << " to " << c.results.high;
        EXPECT_EQ(range.nan, c.expected.nan) << core::name(c.type) << " from " << c.results.low;
    }
}

}  // namespace
}  // namespace dmlconform::cpu::element_wise::load_store_test

// Tests of engine/core/element: the extreme values of every type as bits, in memory and as text.
#include "engine/core/element.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace dmlconform::core::element_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Element, StorageIsLittleEndianAndOfTheTypesWidth) {
    struct Row {
        DataType type;
        std::uint64_t index;
        std::uint64_t bits;
        std::array<unsigned char, 16> bytes;
    };
    const Row rows[] = {
        {DataType::uint4, 3, 0xa, {0, 0xa0}},
        {DataType::int4, 2, 0x9, {0, 0x09}},
        {DataType::uint8, 2, 0x12, {0, 0, 0x12}},
        {DataType::float16, 1, 0x1234, {0, 0, 0x34, 0x12}},
        {DataType::int32, 1, 0x12345678, {0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12}},
        // 4-bit types have two elements per byte, the first in the lower half.
        {DataType::uint4, 2, 0xc, {0, 0x0c}},
        {DataType::int4, 3, 0xc, {0, 0xc0}},
        {DataType::float64,
         1,
         0x123456789abcdef0,
         {0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12}},
    };
    for (const Row& row : rows) {
        std::array<std::byte, 16> storage{};
        store_element(storage, row.type, row.index, row.bits);
        EXPECT_EQ(storage, std::bit_cast<decltype(storage)>(row.bytes)) << name(row.type);
        EXPECT_EQ(load_element(storage, row.type, row.index), row.bits) << name(row.type);
        EXPECT_EQ(load_element(storage, row.type, 0), 0u) << name(row.type);
    }
}

TEST(Element, EncodesNumbers) {
    struct Row {
        DataType type = DataType::unknown;
        double value = 0;
        std::optional<std::uint64_t> bits;
    };
    const Row rows[] = {
        {DataType::float32, 1, 0x3f800000},
        {DataType::float32, -0.0, 0x80000000},
        {DataType::float32, 0.1, 0x3dcccccd},
        {DataType::float32, inf, 0x7f800000},
        {DataType::float32, -inf, 0xff800000},
        {DataType::float32, 0x1.fffffep127, 0x7f7fffff},
        {DataType::float32, 0x1.fffffefp127, 0x7f7fffff},  // below the midpoint to 2^128, so rounded down
        {DataType::float32, -0x1.fffffefp127, 0xff7fffff},
        {DataType::float32, 0x1.ffffffp127, std::nullopt},  // the midpoint
        {DataType::float32, -1e39, std::nullopt},
        {DataType::float32, 0x1p-149, 1},
        {DataType::float32, 0x1p-151, 0},
        {DataType::float64, 0.1, 0x3fb999999999999a},
        {DataType::float16, 1, 0x3c00},
        {DataType::float16, 65519.99, 0x7bff},
        {DataType::float16, 65520, std::nullopt},
        {DataType::float16, -65520, std::nullopt},
        {DataType::float16, -inf, 0xfc00},
        {DataType::int8, -128, 0x80},
        {DataType::int8, 127, 0x7f},
        {DataType::int8, 128, std::nullopt},
        {DataType::int8, -129, std::nullopt},
        {DataType::int8, 0.5, std::nullopt},
        {DataType::int8, -0.0, 0},
        {DataType::uint8, 255, 0xff},
        {DataType::uint8, 256, std::nullopt},
        {DataType::uint8, -1, std::nullopt},
        {DataType::int16, -1, 0xffff},
        {DataType::int32, -2147483648.0, 0x80000000},
        {DataType::int32, 2147483648.0, std::nullopt},
        {DataType::uint32, 4294967295.0, 0xffffffff},
        {DataType::int64, -0x1p63, 0x8000000000000000},
        {DataType::int64, 0x1p63, std::nullopt},
        {DataType::uint64, 0x1p63, 0x8000000000000000},
        {DataType::uint64, 0x1p64, std::nullopt},
        {DataType::uint64, inf, std::nullopt},
        {DataType::int32, nan, std::nullopt},
    };
    for (const Row& row : rows) {
        const auto bits = encode_element(row.type, row.value);
        EXPECT_EQ(bits ? std::optional(*bits) : std::nullopt, row.bits) << name(row.type) << ' ' << row.value;
        EXPECT_TRUE(bits || !bits.error().message.empty());
    }
    EXPECT_TRUE(std::isnan(decode_element(DataType::float32, encode_element(DataType::float32, nan).value())));
    EXPECT_TRUE(std::isnan(decode_element(DataType::float16, encode_element(DataType::float16, nan).value())));
}

TEST(Element, EncodesIntegersThatDoublesDoNotHold) {
    struct Row {
        DataType type = DataType::unknown;
        Integer value;
        std::optional<std::uint64_t> bits;
    };
    const Row rows[] = {
        {DataType::uint64, {false, UINT64_MAX}, UINT64_MAX},
        {DataType::uint64, {true, 1}, std::nullopt},
        {DataType::uint64, {true, 0}, 0},
        {DataType::int64, {false, INT64_MAX}, INT64_MAX},
        {DataType::int64, {false, std::uint64_t{1} << 63}, std::nullopt},
        {DataType::int64, {true, std::uint64_t{1} << 63}, std::uint64_t{1} << 63},
        {DataType::int64, {true, (std::uint64_t{1} << 63) + 1}, std::nullopt},
        {DataType::int64, {true, (std::uint64_t{1} << 53) + 1}, 0xffdfffffffffffff},
        {DataType::int8, {true, 128}, 0x80},
        {DataType::int8, {true, 129}, std::nullopt},
        {DataType::uint16, {false, 65536}, std::nullopt},
        {DataType::float32, {true, 3}, 0xc0400000},
        {DataType::float16, {false, 65520}, std::nullopt},
        {DataType::float64, {false, std::uint64_t{1} << 63}, 0x43e0000000000000},
    };
    for (const Row& row : rows) {
        const auto bits = encode_element(row.type, row.value);
        EXPECT_EQ(bits ? std::optional(*bits) : std::nullopt, row.bits)
            << name(row.type) << ' ' << (row.value.negative ? "-" : "") << row.value.magnitude;
    }
}

TEST(Element, Decodes) {
    struct Row {
        DataType type;
        std::uint64_t bits;
        double value;
    };
    const Row rows[] = {
        {DataType::float32, 0xc0400000, -3},
        {DataType::float16, 0x0001, 0x1p-24},
        {DataType::float64, 0x3fb999999999999a, 0.1},
        {DataType::int8, 0xff, -1},
        {DataType::uint8, 0xff, 255},
        {DataType::int16, 0x8000, -32768},
        {DataType::int32, 0x80000000, -2147483648.0},
        {DataType::uint32, 0x80000000, 2147483648.0},
        {DataType::int64, 0xffffffffffffffff, -1},
        {DataType::uint64, 0x8000000000000000, 0x1p63},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(decode_element(row.type, row.bits), row.value) << name(row.type);
    }
}

TEST(Element, Formats) {
    struct Row {
        DataType type;
        std::uint64_t bits;
        const char* value;
        const char* hexadecimal;
    };
    const Row rows[] = {
        {DataType::float32, 0x3dcccccd, "0.1", "0x3dcccccd"},
        {DataType::float32, 0x80000000, "-0", "0x80000000"},
        {DataType::float32, 0xff800000, "-inf", "0xff800000"},
        {DataType::float16, 0x3c01, "1.001", "0x3c01"},
        {DataType::float16, 0x0001, "5.9605e-08", "0x0001"},
        {DataType::float64, 0x3fb999999999999a, "0.1", "0x3fb999999999999a"},
        {DataType::int8, 0x80, "-128", "0x80"},
        {DataType::uint8, 0x05, "5", "0x05"},
        {DataType::int64, 0x8000000000000000, "-9223372036854775808", "0x8000000000000000"},
        {DataType::uint64, 0xffffffffffffffff, "18446744073709551615", "0xffffffffffffffff"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(format_element(row.type, row.bits), row.value);
        EXPECT_EQ(format_bits(row.type, row.bits), row.hexadecimal);
    }
}

/// The text of every FLOAT16 number has enough digits to be read back exactly.
TEST(Element, Float16TextIsUnambiguous) {
    for (unsigned bits = 0; bits < 0x7c00; ++bits) {
        const std::string text = format_element(DataType::float16, bits);
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        ASSERT_EQ(error, std::errc());
        ASSERT_EQ(end, text.data() + text.size());
        ASSERT_EQ(float16_bits_from_double(value), bits) << text;
    }
}

TEST(Element, Ranges) {
    EXPECT_EQ(range_of(DataType::int8), "-128 to 127");
    EXPECT_EQ(range_of(DataType::uint16), "0 to 65535");
    EXPECT_EQ(range_of(DataType::int64), "-9223372036854775808 to 9223372036854775807");
    EXPECT_EQ(range_of(DataType::uint64), "0 to 18446744073709551615");
    EXPECT_EQ(range_of(DataType::int4), "-8 to 7");
}

}  // namespace
}  // namespace dmlconform::core::element_test

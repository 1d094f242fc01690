// Tests of engine/cases/element_reader: every form of an element for every data type.
#include "engine/cases/element_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/cases/reading.h"

namespace dmlconform::tests::element_reader_test {
namespace {

using cases::integer_of;
using cases::number_of;
using cases::read_element;
using core::DataType;

struct BitsRow {
    DataType type;
    std::string_view text;
    std::uint64_t bits;
};

TEST(ElementReader, Values) {
    const BitsRow rows[] = {
        {DataType::float32, "0", 0},
        {DataType::float32, "-0", 0x80000000},
        {DataType::float32, "-0.0", 0x80000000},
        {DataType::float32, "-0e5", 0x80000000},
        {DataType::float32, "1", 0x3f800000},
        {DataType::float32, "-1", 0xbf800000},
        {DataType::float32, "0.1", 0x3dcccccd},
        {DataType::float32, "1e0", 0x3f800000},
        {DataType::float32, "16777217", 0x4b800000},  // ties to even
        {DataType::float32, "16777219", 0x4b800002},
        {DataType::float32, "3.4028234663852886e38", 0x7f7fffff},
        {DataType::float32, "3.4028235677973362e38", 0x7f7fffff},  // below the midpoint to 2^128
        {DataType::float32, "1.401298464324817e-45", 1},
        {DataType::float32, "7.1e-46", 1},
        {DataType::float32, "7.0e-46", 0},
        {DataType::float32, "-1e-400", 0x80000000},
        {DataType::float32, "18446744073709551615", 0x5f800000},
        {DataType::float32, "99999999999999999999", 0x60ad78ec},
        {DataType::float32, R"("nan")", 0x7fc00000},
        {DataType::float32, R"("inf")", 0x7f800000},
        {DataType::float32, R"("+inf")", 0x7f800000},
        {DataType::float32, R"("-inf")", 0xff800000},
        {DataType::float32, R"("0x7fc00001")", 0x7fc00001},
        {DataType::float32, R"("0xFF800001")", 0xff800001},
        {DataType::float32, R"("0x1")", 1},
        {DataType::float32, R"("0x0000000000000001")", 1},
        {DataType::float16, "1", 0x3c00},
        {DataType::float16, "-0.0", 0x8000},
        {DataType::float16, "65504", 0x7bff},
        {DataType::float16, "65519.996", 0x7bff},
        {DataType::float16, "5.9604644775390625e-8", 1},
        {DataType::float16, "2.98023223876953125e-8", 0},     // ties to even
        {DataType::float16, "2.9802322387695317e-8", 1},      // just above
        {DataType::float16, "1.00048828125", 0x3c00},         // ties to even
        {DataType::float16, "1.000488281250000001", 0x3c00},  // above a tie, but equal to it when read as a double
        {DataType::float16, "1.0004882812500003", 0x3c01},
        {DataType::float16, R"("nan")", 0x7e00},
        {DataType::float16, R"("-inf")", 0xfc00},
        {DataType::float16, R"("0x7c01")", 0x7c01},
        {DataType::float16, R"("0xffff")", 0xffff},
        {DataType::float64, "0.1", 0x3fb999999999999a},
        {DataType::float64, "5e-324", 1},
        {DataType::float64, "1.7976931348623157e308", 0x7fefffffffffffff},
        {DataType::float64, R"("nan")", 0x7ff8000000000000},
        {DataType::float64, R"("0xfff0000000000001")", 0xfff0000000000001},
        {DataType::int8, R"("0x80")", 0x80},
        {DataType::int8, R"("0xff")", 0xff},
        {DataType::int8, "1.0", 1},
        {DataType::int8, "-1.28e2", 0x80},
        {DataType::int8, "-0", 0},
        {DataType::uint8, "-0.0", 0},
        {DataType::uint8, "2.55E+2", 255},
        {DataType::int16, R"("0x8000")", 0x8000},
        {DataType::uint32, "4.294967295e9", 0xffffffff},
        {DataType::int64, R"("0x8000000000000000")", 0x8000000000000000},
        {DataType::int64, "9007199254740991.0", 0x1fffffffffffff},
        {DataType::int64, "-9.007199254740991e15", 0xffe0000000000001},
        {DataType::uint64, R"("0xffffffffffffffff")", 0xffffffffffffffff},
    };
    for (const BitsRow& row : rows) {
        const auto bits = read_element(json(row.text), row.type);
        ASSERT_TRUE(bits.has_value()) << core::name(row.type) << " " << row.text << ": " << bits.error().message;
        EXPECT_EQ(*bits, row.bits) << core::name(row.type) << " " << row.text;
    }
}

struct Integers {
    DataType type;
    std::string_view lowest;
    std::string_view below;
    std::string_view highest;
    std::string_view above;
    std::uint64_t lowest_bits;
    std::uint64_t highest_bits;
    std::string_view range;
};

TEST(ElementReader, IntegersEndWhereTheTypeEnds) {
    const Integers rows[] = {
        {DataType::int8, "-128", "-129", "127", "128", 0x80, 0x7f, "-128 to 127"},
        {DataType::uint8, "0", "-1", "255", "256", 0, 0xff, "0 to 255"},
        {DataType::int16, "-32768", "-32769", "32767", "32768", 0x8000, 0x7fff, "-32768 to 32767"},
        {DataType::uint16, "0", "-1", "65535", "65536", 0, 0xffff, "0 to 65535"},
        {DataType::int32, "-2147483648", "-2147483649", "2147483647", "2147483648", 0x80000000, 0x7fffffff,
         "-2147483648 to 2147483647"},
        {DataType::uint32, "0", "-1", "4294967295", "4294967296", 0, 0xffffffff, "0 to 4294967295"},
        {DataType::int64, "-9223372036854775808", "-9223372036854775809", "9223372036854775807", "9223372036854775808",
         0x8000000000000000, 0x7fffffffffffffff, "-9223372036854775808 to 9223372036854775807"},
        {DataType::uint64, "0", "-1", "18446744073709551615", "18446744073709551616", 0, 0xffffffffffffffff,
         "0 to 18446744073709551615"},
    };
    for (const Integers& row : rows) {
        SCOPED_TRACE(core::name(row.type));
        EXPECT_EQ(read_element(json(row.lowest), row.type).value(), row.lowest_bits);
        EXPECT_EQ(read_element(json(row.highest), row.type).value(), row.highest_bits);
        for (const std::string_view beyond : {row.below, row.above}) {
            const auto bits = read_element(json(beyond), row.type);
            EXPECT_FALSE(bits.has_value()) << beyond;
            EXPECT_TRUE(bits.has_value() || contains(bits.error().message, row.range));
        }
    }
}

struct ErrorRow {
    DataType type;
    std::string_view text;
    std::string_view message;
    std::string_view hint;
};

TEST(ElementReader, Refused) {
    const ErrorRow rows[] = {
        {DataType::float32, "3.4028235677973366e38", "out of the range of FLOAT32", "\"inf\""},  // rounds to 2^128
        {DataType::float32, "-1e39", "out of the range of FLOAT32", "\"inf\""},
        {DataType::float16, "65520", "out of the range of FLOAT16", "\"inf\""},
        {DataType::float16, "-65520.0", "out of the range of FLOAT16", "\"inf\""},
        {DataType::float32, R"("NaN")", "\"NaN\" is not a value of FLOAT32", "\"nan\""},
        {DataType::float32, R"("Infinity")", "not a value of FLOAT32", "\"inf\""},
        {DataType::float32, R"("1.5")", "\"1.5\" is not a value of FLOAT32", "write a number"},
        {DataType::float32, R"("")", "\"\" is not a value of FLOAT32", "write a number"},
        {DataType::float32, R"("0x")", "not a hexadecimal number", ""},
        {DataType::float32, R"("0xg")", "not a hexadecimal number", ""},
        {DataType::float32, R"("0x1 ")", "not a hexadecimal number", ""},
        {DataType::float32, R"("0x-1")", "not a hexadecimal number", ""},
        {DataType::float32, R"("0x+1")", "not a hexadecimal number", ""},
        {DataType::float32, R"("0x1.8p1")", "not a hexadecimal number", ""},
        {DataType::float32, R"("0X1")", "not a value of FLOAT32", "0x"},
        {DataType::float32, R"("0x100000000")", "more than the 32 bits of FLOAT32", ""},
        {DataType::float16, R"("0x10000")", "more than the 16 bits of FLOAT16", ""},
        {DataType::int8, R"("0x100")", "more than the 8 bits of INT8", ""},
        {DataType::uint64, R"("0x10000000000000000")", "more than the 64 bits of UINT64", ""},
        {DataType::float32, "true", "expected a value of FLOAT32, found a boolean", ""},
        {DataType::float32, "null", "expected a value of FLOAT32, found null", ""},
        {DataType::int32, "[1]", "expected a value of INT32, found an array", ""},
        {DataType::int32, R"({"value": 1})", "expected a value of INT32, found an object", ""},
        {DataType::int32, "0.5", "0.5 is not an integer that INT32 holds", ""},
        {DataType::uint8, "254.9999", "254.9999 is not an integer that UINT8 holds (0 to 255)", ""},
        {DataType::int32, "1e-400000", "this number is not an integer, as INT32 is", ""},
        {DataType::int32, "1e300", "INT32", ""},
        {DataType::int32, R"("nan")", "\"nan\" is not a value of INT32", "0x"},
        {DataType::uint8, R"("inf")", "\"inf\" is not a value of UINT8", "0x"},
        {DataType::int8, R"("five")", "\"five\" is not a value of INT8", "write a number"},
        // A double between 2^53 and 2^64 stands for several integers, so the written one is unknown.
        {DataType::int64, "9007199254740993.0", "INT64", ""},
        {DataType::uint64, "1.8446744073709551615e19", "UINT64", ""},
        {DataType::uint64, "99999999999999999999", "UINT64", ""},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(fmt::format("{} {}", core::name(row.type), row.text));
        const auto bits = read_element(json(row.text), row.type);
        EXPECT_FALSE(bits.has_value());
        EXPECT_TRUE(bits.has_value() || contains(bits.error().message, row.message));
        EXPECT_TRUE(bits.has_value() || contains(bits.error().hint, row.hint));
    }
}

TEST(ElementReader, IntegersAndNumbersOfValues) {
    struct Row {
        std::string_view text;
        std::optional<std::int64_t> integer;
        std::optional<double> number;
    };
    const Row rows[] = {
        {"5", 5, 5.0},      {"-5", -5, -5.0},  {"5.0", 5, 5.0},  {"5e1", 50, 50.0}, {"-0", 0, -0.0},  {"0.5", {}, 0.5},
        {"1e30", {}, 1e30}, {"\"5\"", {}, {}}, {"null", {}, {}}, {"[5]", {}, {}},   {"true", {}, {}},
    };
    for (const Row& row : rows) {
        const auto integer = integer_of(json(row.text));
        EXPECT_EQ(integer.has_value(), row.integer.has_value()) << row.text;
        if (integer && row.integer) {
            EXPECT_EQ(integer->negative, *row.integer < 0) << row.text;
            EXPECT_EQ(integer->magnitude, static_cast<std::uint64_t>(std::abs(*row.integer))) << row.text;
        }
        EXPECT_EQ(number_of(json(row.text)), row.number) << row.text;
    }
    const auto lowest = integer_of(json("-9223372036854775808"));
    ASSERT_TRUE(lowest.has_value());
    EXPECT_TRUE(lowest->negative);
    EXPECT_EQ(lowest->magnitude, std::uint64_t{1} << 63);
}

}  // namespace
}  // namespace dmlconform::tests::element_reader_test

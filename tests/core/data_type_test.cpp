// Tests of engine/core/data_type: the whole table, conversion to and from names, and the C++ type of each data type.
#include "engine/core/data_type.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace dmlconform::core::data_type_test {
namespace {

/// Values and names of DML_TENSOR_DATA_TYPE in DirectML.h.
struct Row {
    DataType type;
    std::uint32_t value;
    std::string_view name;
    std::uint32_t bits;
    bool floating;
    bool signed_integer;
};

constexpr Row rows[] = {
    {DataType::unknown, 0, "UNKNOWN", 0, false, false}, {DataType::float32, 1, "FLOAT32", 32, true, false},
    {DataType::float16, 2, "FLOAT16", 16, true, false}, {DataType::uint32, 3, "UINT32", 32, false, false},
    {DataType::uint16, 4, "UINT16", 16, false, false},  {DataType::uint8, 5, "UINT8", 8, false, false},
    {DataType::int32, 6, "INT32", 32, false, true},     {DataType::int16, 7, "INT16", 16, false, true},
    {DataType::int8, 8, "INT8", 8, false, true},        {DataType::float64, 9, "FLOAT64", 64, true, false},
    {DataType::uint64, 10, "UINT64", 64, false, false}, {DataType::int64, 11, "INT64", 64, false, true},
    {DataType::uint4, 12, "UINT4", 4, false, false},    {DataType::int4, 13, "INT4", 4, false, true},
};

TEST(DataType, Table) {
    ASSERT_EQ(std::size(rows), data_type_count);
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(static_cast<std::uint32_t>(row.type), row.value);
        EXPECT_EQ(name(row.type), row.name);
        EXPECT_EQ(bits_of(row.type), row.bits);
        EXPECT_EQ(bytes_of(row.type), row.bits < 8 ? 0 : row.bits / 8);
        EXPECT_EQ(bytes_of(row.type, 3), (3 * row.bits + 7) / 8);
        EXPECT_EQ(bytes_of(row.type, 0), 0u);
        EXPECT_EQ(is_floating_point(row.type), row.floating);
        EXPECT_EQ(is_signed_integer(row.type), row.signed_integer);
        EXPECT_EQ(parse_data_type(row.name), row.type);
        EXPECT_EQ(parse_data_type("DML_TENSOR_DATA_TYPE_" + std::string(row.name)), row.type);
    }
}

TEST(DataType, ValuesBeyondTheTableAreHarmless) {
    for (const std::uint32_t value : {14u, 15u, 0xffffffffu}) {
        EXPECT_EQ(name(static_cast<DataType>(value)), "UNKNOWN");
        EXPECT_EQ(bits_of(static_cast<DataType>(value)), 0u);
    }
}

TEST(DataType, OtherNamesAreRefused) {
    for (const char* text :
         {"", "float32", "FLOAT", "FLOAT32 ", " FLOAT32", "FLOAT320", "DML_TENSOR_DATA_TYPE_", "BOOL",
          "DML_TENSOR_DATA_TYPE_DML_TENSOR_DATA_TYPE_INT8", "DML_TENSOR_DATA_TYPE_float32"}) {
        EXPECT_EQ(parse_data_type(text), std::nullopt) << '"' << text << '"';
    }
}

TEST(DataType, TypesBehindThem) {
    for (const Row& row : rows) {
        if (bytes_of(row.type) == 0) {
            continue;
        }
        SCOPED_TRACE(row.name);
        with_type(row.type, [&]<class T>() {
            EXPECT_EQ(sizeof(T) * 8, row.bits);
            constexpr bool floating = std::is_floating_point_v<T> || std::is_same_v<T, Float16>;
            EXPECT_EQ(floating, row.floating);
            EXPECT_EQ(!floating && std::numeric_limits<T>::is_signed, row.signed_integer);
        });
    }
}

}  // namespace
}  // namespace dmlconform::core::data_type_test

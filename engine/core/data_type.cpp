// Names and properties of the tensor data types, from one table.
#include "engine/core/data_type.h"

#include <array>

namespace dmlconform::core {
namespace {

enum class Kind : std::uint8_t { none, floating, signed_integer, unsigned_integer };

struct Row {
    std::string_view name;
    std::uint32_t bits;
    Kind kind;
};

constexpr std::array<Row, data_type_count> rows{{
    {"UNKNOWN", 0, Kind::none},
    {"FLOAT32", 32, Kind::floating},
    {"FLOAT16", 16, Kind::floating},
    {"UINT32", 32, Kind::unsigned_integer},
    {"UINT16", 16, Kind::unsigned_integer},
    {"UINT8", 8, Kind::unsigned_integer},
    {"INT32", 32, Kind::signed_integer},
    {"INT16", 16, Kind::signed_integer},
    {"INT8", 8, Kind::signed_integer},
    {"FLOAT64", 64, Kind::floating},
    {"UINT64", 64, Kind::unsigned_integer},
    {"INT64", 64, Kind::signed_integer},
    {"UINT4", 4, Kind::unsigned_integer},
    {"INT4", 4, Kind::signed_integer},
}};

const Row& row(DataType type) {
    const auto index = static_cast<std::uint32_t>(type);
    return rows[index < rows.size() ? index : 0];
}

}  // namespace

std::string_view name(DataType type) {
    return row(type).name;
}

std::optional<DataType> parse_data_type(std::string_view text) {
    constexpr std::string_view prefix = "DML_TENSOR_DATA_TYPE_";
    if (text.starts_with(prefix)) {
        text.remove_prefix(prefix.size());
    }
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        if (rows[i].name == text) {
            return static_cast<DataType>(i);
        }
    }
    return std::nullopt;
}

std::uint32_t bits_of(DataType type) {
    return row(type).bits;
}

std::uint32_t bytes_of(DataType type) {
    return row(type).bits / 8;
}

std::uint64_t bytes_of(DataType type, std::uint64_t count) {
    return bytes_of(type) == 0 ? (count * bits_of(type) + 7) / 8 : count * bytes_of(type);
}

bool is_floating_point(DataType type) {
    return row(type).kind == Kind::floating;
}

bool is_signed_integer(DataType type) {
    return row(type).kind == Kind::signed_integer;
}

}  // namespace dmlconform::core

// The tensor data types of DirectML (DML_TENSOR_DATA_TYPE): names, widths and C++ types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "engine/core/float16.h"

namespace dmlconform::core {

/// Enumerators have the values of DML_TENSOR_DATA_TYPE.
enum class DataType : std::uint32_t {
    unknown = 0,
    float32 = 1,
    float16 = 2,
    uint32 = 3,
    uint16 = 4,
    uint8 = 5,
    int32 = 6,
    int16 = 7,
    int8 = 8,
    float64 = 9,
    uint64 = 10,
    int64 = 11,
    uint4 = 12,
    int4 = 13,
};

inline constexpr std::uint32_t data_type_count = 14;

/// The enumerator without DirectML's prefix: "FLOAT32".
[[nodiscard]] std::string_view name(DataType type);

/// Accepts "FLOAT32" and "DML_TENSOR_DATA_TYPE_FLOAT32".
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view text);

/// Width of one element in bits; 0 for UNKNOWN, 4 for the packed 4-bit types.
[[nodiscard]] std::uint32_t bits_of(DataType type);

/// Width of one element in bytes; 0 for UNKNOWN and for types narrower than a byte.
[[nodiscard]] std::uint32_t bytes_of(DataType type);

/// Bytes of `count` packed elements. Two 4-bit elements share a byte; an odd count is rounded up.
[[nodiscard]] std::uint64_t bytes_of(DataType type, std::uint64_t count);

[[nodiscard]] bool is_floating_point(DataType type);
[[nodiscard]] bool is_signed_integer(DataType type);

/// Calls f.template operator()<T>() with the C++ type T that stores an element of `type`. The type must be at least one
/// byte wide.
template <class F>
decltype(auto) with_type(DataType type, F&& f) {
    switch (type) {
        case DataType::float32:
            return f.template operator()<float>();
        case DataType::float16:
            return f.template operator()<Float16>();
        case DataType::float64:
            return f.template operator()<double>();
        case DataType::uint64:
            return f.template operator()<std::uint64_t>();
        case DataType::uint32:
            return f.template operator()<std::uint32_t>();
        case DataType::uint16:
            return f.template operator()<std::uint16_t>();
        case DataType::int64:
            return f.template operator()<std::int64_t>();
        case DataType::int32:
            return f.template operator()<std::int32_t>();
        case DataType::int16:
            return f.template operator()<std::int16_t>();
        case DataType::int8:
            return f.template operator()<std::int8_t>();
        case DataType::uint8:
        default:
            return f.template operator()<std::uint8_t>();
    }
}

}  // namespace dmlconform::core

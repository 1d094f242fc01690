// The tensor data types of DirectML (DML_TENSOR_DATA_TYPE) and what follows from each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "engine/core/float16.h"

namespace dmlconform::core {

/// Enumerator values are those of DML_TENSOR_DATA_TYPE.
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

/// DirectML's suffix: "FLOAT32".
[[nodiscard]] std::string_view name(DataType type);

/// Accepts the suffix or the full enumerator ("DML_TENSOR_DATA_TYPE_FLOAT32").
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view text);

/// Width of one element; 0 for unknown, 4 for the packed 4-bit types.
[[nodiscard]] std::uint32_t bits_of(DataType type);

/// Width of one element in bytes; 0 for unknown and for types narrower than a byte.
[[nodiscard]] std::uint32_t bytes_of(DataType type);

/// How many bytes so many elements take side by side. Two of 4 bits share a byte; the last may have one to itself.
[[nodiscard]] std::uint64_t bytes_of(DataType type, std::uint64_t count);

[[nodiscard]] bool is_floating_point(DataType type);
[[nodiscard]] bool is_signed_integer(DataType type);

/// Calls f.template operator()<T>() with the C++ type that stores an element of `type`, which must be
/// one that is at least a byte wide.
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

// How shaders are told the format of a tensor's elements.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/core/data_type.h"
#include "shaders/common/element_format.hlsli"

namespace dmlconform::d3d12 {

/// KIND_UNSIGNED, …
[[nodiscard]] inline std::uint32_t kind_of(core::DataType type) {
    switch (type) {
        case core::DataType::float64:
            return KIND_FLOAT64;
        case core::DataType::float32:
            return KIND_FLOAT32;
        case core::DataType::float16:
            return KIND_FLOAT16;
        default:
            return core::is_signed_integer(type) ? KIND_SIGNED : KIND_UNSIGNED;
    }
}

/// Binary logarithm of the number of elements per word, or PACKING_64.
[[nodiscard]] inline std::uint32_t packing_of(core::DataType type) {
    const std::uint32_t width = core::bits_of(type);
    return width == 64 ? PACKING_64 : static_cast<std::uint32_t>(std::countr_zero(32 / width));
}

/// The magnitude of infinity, shifted to the top of a word; 0 for integers.
[[nodiscard]] inline std::uint32_t infinity_of(core::DataType type) {
    return type == core::DataType::float32 ? 0x7f800000 : type == core::DataType::float16 ? 0x7c000000 : 0;
}

/// The sign bit of signed integers of up to 32 bits; 0 for other types.
[[nodiscard]] inline std::uint32_t sign_bit_of(core::DataType type) {
    return core::is_signed_integer(type) ? 1u << (core::bits_of(type) - 1) : 0;
}

}  // namespace dmlconform::d3d12

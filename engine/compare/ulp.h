// Distances between elements in units in the last place (ULP) of their type.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "engine/core/float16.h"

namespace dmlconform::compare {

/// The number of steps between representable values from a to b. Subnormals count like other values, and +0 and -0 have
/// distance 0. For integers it is the absolute difference. Neither may be NaN.
template <class T>
[[nodiscard]] std::uint64_t ulp_distance(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        const auto difference = static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
        return a < b ? std::uint64_t{0} - difference : difference;
    } else {
        using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                        std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
        const auto bits_a = std::bit_cast<Bits>(a);
        const auto bits_b = std::bit_cast<Bits>(b);
        constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
        // The bit patterns of consecutive magnitudes are consecutive integers.
        const std::uint64_t magnitude_a = bits_a & static_cast<Bits>(~sign);
        const std::uint64_t magnitude_b = bits_b & static_cast<Bits>(~sign);
        if (((bits_a ^ bits_b) & sign) != 0) {
            return magnitude_a + magnitude_b;
        }
        return magnitude_a < magnitude_b ? magnitude_b - magnitude_a : magnitude_a - magnitude_b;
    }
}

template <class T>
[[nodiscard]] bool is_nan(T value) {
    if constexpr (std::is_same_v<T, core::Float16>) {
        return (value.bits & 0x7fffu) > 0x7c00u;
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::isnan(value);
    } else {
        return false;
    }
}

template <class T>
[[nodiscard]] bool is_negative_zero(T value) {
    if constexpr (std::is_same_v<T, core::Float16>) {
        return value.bits == 0x8000u;
    } else if constexpr (std::is_floating_point_v<T>) {
        return value == 0 && std::signbit(value);
    } else {
        return false;
    }
}

template <class T>
[[nodiscard]] bool is_infinite(T value) {
    if constexpr (std::is_same_v<T, core::Float16>) {
        return (value.bits & 0x7fffu) == 0x7c00u;
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::isinf(value);
    } else {
        return false;
    }
}

}  // namespace dmlconform::compare

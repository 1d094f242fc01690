// Converts numbers between types in the way DirectML converts attributes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/core/data_type.h"
#include "engine/core/float16.h"

namespace dmlconform::d3d12 {

/// Truncates toward zero and clamps to the type's range; NaN becomes 0.
template <class To, class From>
[[nodiscard]] To converted(From value) {
    if constexpr (std::is_floating_point_v<To>) {
        return static_cast<To>(value);
    } else if constexpr (std::is_floating_point_v<From>) {
        const double end = std::ldexp(1.0, std::numeric_limits<To>::digits);
        if (std::isnan(value)) {
            return 0;
        }
        if (value >= end) {
            return std::numeric_limits<To>::max();
        }
        return value <= (std::is_signed_v<To> ? -end : 0.0) ? std::numeric_limits<To>::min() : static_cast<To>(value);
    } else {
        return std::cmp_less(value, std::numeric_limits<To>::min())      ? std::numeric_limits<To>::min()
               : std::cmp_greater(value, std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max()
                                                                         : static_cast<To>(value);
    }
}

/// The bits of an element with this value.
[[nodiscard]] inline std::uint64_t element_bits(float value, core::DataType type) {
    return core::with_type(type, [&]<class Element>() -> std::uint64_t {
        if constexpr (std::is_same_v<Element, float>) {
            return std::bit_cast<std::uint32_t>(value);
        } else if constexpr (std::is_same_v<Element, double>) {
            return std::bit_cast<std::uint64_t>(double{value});
        } else if constexpr (std::is_integral_v<Element>) {
            return static_cast<std::uint64_t>(converted<Element>(value));
        } else {
            return core::float16_bits_from_double(value);
        }
    });
}

}  // namespace dmlconform::d3d12

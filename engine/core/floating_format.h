// What floating-point formats can represent, and how far one rounding goes (IEEE 754).
#pragma once

#include <limits>

#include "engine/core/data_type.h"

namespace dmlconform::core {

struct FloatingFormat {
    int digits;              // significant bits, with the leading one
    double largest;          // the largest finite number
    double smallest_normal;  // Direct3D may flush smaller numbers to zero
    double smallest;         // the smallest number above zero
    double one_rounding;     // relative error of a rounding to nearest or towards zero
    double half_rounding;    // relative error of a rounding to nearest
};

inline constexpr FloatingFormat float16{11, 65504, 0x1p-14, 0x1p-24, 0x1p-10, 0x1p-11};
inline constexpr FloatingFormat float32{24, std::numeric_limits<float>::max(), 0x1p-126, 0x1p-149, 0x1p-23, 0x1p-24};
inline constexpr FloatingFormat float64{53,
                                        std::numeric_limits<double>::max(),
                                        std::numeric_limits<double>::min(),
                                        std::numeric_limits<double>::denorm_min(),
                                        0x1p-52,
                                        0x1p-53};

/// Numbers of other types are computed with in FP32.
[[nodiscard]] constexpr const FloatingFormat& format_of(DataType type) {
    switch (type) {
        case DataType::float16:
            return float16;
        case DataType::float64:
            return float64;
        default:
            return float32;
    }
}

}  // namespace dmlconform::core

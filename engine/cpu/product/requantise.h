// Converts exact integer sums to quantised numbers, and decides which neighbouring numbers are accepted.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/tolerance.h"

namespace dmlconform::cpu {

/// The integers that an implementation may return for one output element.
struct Quantised {
    /// The reference's result.
    std::int32_t value = 0;
    /// 1 if the next lower (higher) number is accepted as well, otherwise 0.
    std::int32_t below = 0;
    std::int32_t above = 0;
};

/// Requantises an exact accumulator: rounds half to even, adds the zero point, and clamps to [low, high]. `multiplier`
/// is inputScale * filterScale / outputScale in double. The result includes the operator's tolerance: a neighbour is
/// accepted if the distance of the unrounded value from the tie between the two is within the rounding errors of an
/// FP32 implementation.
[[nodiscard]] Quantised requantise(std::int64_t accumulator, double multiplier, std::int32_t zero_point,
                                   std::int32_t low, std::int32_t high);

/// AScale * BScale / OutputScale, or the like. Direct3D may take subnormal scales and results for 0 (3.1.3).
struct Multiplier {
    double exact = 1;
    /// Where all subnormal numbers count as 0.
    double flushed = 1;

    [[nodiscard]] static Multiplier of(double a, double b, double divisor);
};

/// The same for an implementation that flushes subnormal numbers, or does not.
[[nodiscard]] Quantised requantise(std::int64_t accumulator, const Multiplier& multiplier, std::int32_t zero_point,
                                   std::int32_t low, std::int32_t high);

/// The first one's value, with what either accepts.
[[nodiscard]] Quantised hull(const Quantised& first, const Quantised& second);

/// The values for several integers plus a bias, without neighbours. Output is std::int8_t or std::uint8_t.
template <class Output>
void requantise(std::span<const double> sums, double bias, double multiplier, std::int32_t zero_point, Output* to);

/// The tolerance of an output made by `requantise`.
[[nodiscard]] core::Tolerance requantised_tolerance();

}  // namespace dmlconform::cpu

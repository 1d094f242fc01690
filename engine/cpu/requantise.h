// Turning an exact integer sum back into a quantised number, and which neighbours of it are accepted.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/tolerance.h"

namespace dmlconform::cpu {

/// Which integers an implementation may return for one output element.
struct Quantised {
    /// The reference's answer.
    std::int32_t value = 0;
    /// 1 where the neighbour below (above) is accepted too, else 0.
    std::int32_t below = 0;
    std::int32_t above = 0;
};

/// Requantises an exact accumulator: half to even, plus zero point, clamped to [low, high].
/// `multiplier` is inputScale * filterScale / outputScale in double. This is also the operator's tolerance: a neighbour
/// is accepted only where the unrounded value lies within the roundings of an FP32 implementation from the tie between
/// the two.
[[nodiscard]] Quantised requantise(std::int64_t accumulator, double multiplier, std::int32_t zero_point,
                                   std::int32_t low, std::int32_t high);

/// The same values of several integers plus a bias, without their neighbours. Output is std::int8_t or std::uint8_t.
template <class Output>
void requantise(std::span<const double> sums, double bias, double multiplier, std::int32_t zero_point, Output* to);

/// The tolerance of an output made by `requantise`.
[[nodiscard]] core::Tolerance requantised_tolerance();

}  // namespace dmlconform::cpu

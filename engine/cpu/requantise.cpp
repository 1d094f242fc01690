// Requantisation in double.
#include "engine/cpu/requantise.h"

#include <algorithm>
#include <cmath>

namespace dmlconform::cpu {

Quantised requantise(std::int64_t accumulator, double multiplier, std::int32_t zero_point, std::int32_t low,
                     std::int32_t high) {
    const auto round = [&](double value) {
        // Clamped before the conversion, which is undefined for what an int32 cannot hold.
        const double clamped =
            std::clamp(std::nearbyint(value) + zero_point, static_cast<double>(low), static_cast<double>(high));
        return static_cast<std::int32_t>(clamped);
    };
    // A scale of 0 or infinity gives the operator no meaning, but must not make this function undefined.
    const double product = static_cast<double>(accumulator) * multiplier;
    const double value = std::isnan(product) ? 0.0 : std::clamp(product, -0x1p62, 0x1p62);
    // FP32 rounds four times on the way from the accumulator to the value: the accumulator's conversion, the two
    // operations that form the multiplier, and the product. Each is at most half an ULP, 2^-24 relative.
    const double slack = 4 * 0x1p-24 * std::fabs(value);
    Quantised result;
    result.value = round(value);
    result.below = result.value - std::max(round(value - slack), result.value - 1);
    result.above = std::min(round(value + slack), result.value + 1) - result.value;
    return result;
}

core::Tolerance requantised_tolerance() {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    tolerance.slack_formula = "exact, or 1 off where the unrounded value y is within 4 * 2^-24 * |y| of a tie";
    return tolerance;
}

}  // namespace dmlconform::cpu

// Requantisation in double precision.
#include "engine/cpu/product/requantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {
namespace {

/// The operator is undefined for a scale of 0 or infinity, but this code must not be.
double meaningful(double product) {
    return std::isnan(product) ? 0.0 : product;
}

/// Rounds half to even: doubles as large as the added constant are integers. GCC vectorises two additions, but not
/// std::nearbyint.
double nearest(double value) {
    constexpr double digits = 0x1.8p52;
    return value + digits - digits;
}

/// Rounds, adds the zero point and clamps. Bounds are integers, so clamping first gives the same result.
std::int32_t rounded(double value, std::int32_t zero_point, double low, double high) {
    const double raised = value > low - zero_point ? value : low - zero_point;
    const double bounded = raised < high - zero_point ? raised : high - zero_point;
    return static_cast<std::int32_t>(nearest(bounded)) + zero_point;
}

double without_subnormal(double number) {
    return std::fabs(number) < core::float32.smallest_normal ? std::copysign(0.0, number) : number;
}

}  // namespace

Multiplier Multiplier::of(double a, double b, double divisor) {
    const double product = without_subnormal(without_subnormal(a) * without_subnormal(b));
    return {a * b / divisor, without_subnormal(product / without_subnormal(divisor))};
}

Quantised requantise(std::int64_t accumulator, const Multiplier& multiplier, std::int32_t zero_point, std::int32_t low,
                     std::int32_t high) {
    const auto with = [&](double number) { return requantise(accumulator, number, zero_point, low, high); };
    const Quantised result = with(multiplier.exact);
    return multiplier.flushed == multiplier.exact ? result : hull(result, with(multiplier.flushed));
}

Quantised requantise(std::int64_t accumulator, double multiplier, std::int32_t zero_point, std::int32_t low,
                     std::int32_t high) {
    const auto round = [&](double value) { return rounded(value, zero_point, low, high); };
    const double value = meaningful(static_cast<double>(accumulator) * multiplier);
    // FP32 rounds four times between the accumulator and the value: the accumulator's conversion, the two operations of
    // the multiplier, and the product. Each rounding is at most half an ULP, 2^-24 relative.
    const double slack = 4 * core::float32.half_rounding * std::fabs(value);
    Quantised result;
    result.value = round(value);
    result.below = result.value - std::max(round(value - slack), result.value - 1);
    result.above = std::min(round(value + slack), result.value + 1) - result.value;
    return result;
}

Quantised hull(const Quantised& first, const Quantised& second) {
    return {first.value, std::max(first.below, first.value - (second.value - second.below)),
            std::max(first.above, second.value + second.above - first.value)};
}

template <class Output>
void requantise(std::span<const double> sums, double bias, double multiplier, std::int32_t zero_point, Output* to) {
    constexpr double low = std::numeric_limits<Output>::min();
    constexpr double high = std::numeric_limits<Output>::max();
    constexpr std::int64_t lanes = 16;
    const auto count = static_cast<std::int64_t>(sums.size());
    if (count < lanes || !std::isfinite(multiplier)) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            to[i] = static_cast<Output>(rounded(meaningful((sums[i] + bias) * multiplier), zero_point, low, high));
        }
        return;
    }
    in_wide_segments<lanes>(count, [=, from = sums.data()](std::int64_t first) {
        // Two loops, because GCC does not vectorise a single one from doubles to bytes.
        std::int32_t numbers[lanes];
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            numbers[lane] = rounded((from[first + lane] + bias) * multiplier, zero_point, low, high);
        }
        Output elements[lanes];
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            elements[lane] = static_cast<Output>(numbers[lane]);
        }
        std::memcpy(to + first, elements, sizeof elements);
    });
}
template void requantise(std::span<const double>, double, double, std::int32_t, std::int8_t*);
template void requantise(std::span<const double>, double, double, std::int32_t, std::uint8_t*);

core::Tolerance requantised_tolerance() {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    tolerance.slack_formula = "exact, or 1 off where the unrounded value y is within 4 * 2^-24 * |y| of a tie";
    return tolerance;
}

}  // namespace dmlconform::cpu

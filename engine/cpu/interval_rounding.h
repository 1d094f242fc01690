// FP32's numbers around real numbers, and intervals of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/interval.h"

/// For what each operation on intervals consists of. GCC would call these functions, because there are many calls in a
/// batch: then ranges take half as long again.
#ifdef __GNUC__
#define DMLCONFORM_INLINED [[gnu::always_inline]]
#else
#define DMLCONFORM_INLINED
#endif

namespace dmlconform::cpu::rounding {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double largest = core::float32.largest;
/// The smallest power of two beyond FP32's range.
inline constexpr double beyond = 0x1p128;

/// down() of what is no finite number of FP32's range.
[[nodiscard]] double down_outside(double x);

/// The largest FP32 number that is not above x, with an unlimited exponent. Where one implementation overflows to
/// infinity, another one may reorder operations and stay finite, so later steps must accept the whole interval from the
/// number to infinity. When stored, such an interval contains no FP32 number except infinity.
[[nodiscard]] DMLCONFORM_INLINED inline double down(double x) {
    if (!(std::fabs(x) <= largest)) {
        return down_outside(x);
    }
    const auto nearest = static_cast<float>(x);
    // One step down if that is above x. Without a branch, because nobody can predict it. As integers, FP32's negative
    // numbers grow downwards. +0 is never above x.
    const auto bits = std::bit_cast<std::int32_t>(nearest);
    const std::int32_t step = double{nearest} > x ? 1 : 0;
    return double{std::bit_cast<float>(bits < 0 ? bits + step : bits - step)};
}

[[nodiscard]] DMLCONFORM_INLINED inline double up(double x) {
    return -down(-x);
}

/// The smallest FP32 number that is not below x; x itself beyond FP32's range.
[[nodiscard]] inline double inwards_from_below(double x) {
    return x >= beyond ? x : x <= -beyond ? -infinity : up(x);
}

/// FP32's ULP at a finite x.
[[nodiscard]] inline double one_ulp(double x) {
    constexpr std::uint64_t exponent = std::uint64_t{0x7ff} << 52;
    const double magnitude = std::max(std::fabs(x), core::float32.smallest_normal);
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & exponent) * core::float32.one_rounding;
}

/// Adds zero if implementations may flush x to zero as an operand or a result. Then the whole subnormal number is an
/// error.
[[nodiscard]] DMLCONFORM_INLINED inline Interval flushed(Interval x) {
    if (x.has_numbers()) {
        if (x.low > 0 && x.low < core::float32.smallest_normal) {
            x.low = 0;
        }
        if (x.high < 0 && x.high > -core::float32.smallest_normal) {
            x.high = -0.0;
        }
        if (x.value != 0 && std::fabs(x.value) < core::float32.smallest_normal) {
            x.variance += x.value * x.value;
        }
    }
    return x;
}

[[nodiscard]] inline bool has_infinity(const Interval& x) {
    return x.has_numbers() && (std::isinf(x.low) || std::isinf(x.high));
}

/// The interval that contains only NaN.
[[nodiscard]] inline Interval only_nan() {
    return {infinity, -infinity, true, 0, Interval::unknown};
}

/// An exact value and the variance of its error.
struct Expected {
    double value = 0;
    double variance = Interval::unknown;
};

/// Propagates an error by the function's derivative. Exact numbers have no error, even if the derivative is infinite.
[[nodiscard]] inline double passed_on(double variance, double derivative) {
    return variance == 0 ? 0 : variance * derivative * derivative;
}

/// Combines a range with its expected value and variance. A range of a single number has no error.
[[nodiscard]] DMLCONFORM_INLINED inline Interval with(const Interval& range, const Expected& expected) {
    return range.low == range.high ? range.with_expected(range.low, 0)
                                   : range.with_expected(expected.value, expected.variance);
}

/// The FP32 numbers around these reals.
[[nodiscard]] DMLCONFORM_INLINED inline Interval rounded(double low, double high, bool nan, const Expected& expected) {
    return flushed(with({down(low), up(high), nan, 0, 0}, expected));
}

/// Both ends may be one ULP off. The variance does not include that yet.
[[nodiscard]] inline Interval within_one_ulp(double low, double high, bool nan, const Expected& exact) {
    const Expected expected{exact.value,
                            exact.variance + uniform_variance(2 * core::float32.half_rounding * exact.value)};
    if (std::isinf(low) || std::isinf(high)) {
        return rounded(std::isinf(low) ? low : low - one_ulp(low), std::isinf(high) ? high : high + one_ulp(high), nan,
                       expected);
    }
    // Rounds inwards, because Direct3D guarantees these bounds.
    return flushed(with(
        {inwards_from_below(low - one_ulp(low)), -inwards_from_below(-(high + one_ulp(high))), nan, 0, 0}, expected));
}

/// The hull of candidates. A NaN among them means that NaN is possible.
template <std::size_t N>
[[nodiscard]] DMLCONFORM_INLINED inline Interval hull_of(const std::array<double, N>& candidates, bool nan) {
    Interval result{infinity, -infinity, nan, 0, 0};
    // Without branches: the comparisons are false for NaN.
    for (const double candidate : candidates) {
        result.nan = result.nan | std::isnan(candidate);
        result.low = candidate < result.low ? candidate : result.low;
        result.high = candidate > result.high ? candidate : result.high;
    }
    return result;
}

}  // namespace dmlconform::cpu::rounding

// Interval arithmetic with the accuracy that Direct3D guarantees for each operation.
//
// Each operation widens the range by the guaranteed error, and adds to the variance the error of the simplest
// implementation. Where Direct3D allows more than one rounding, that error is assumed to be uniform within the
// guarantee.
#include "engine/cpu/interval.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/cpu/expected_error.h"
#include "engine/cpu/interval_notes.h"
#include "engine/cpu/interval_rounding.h"

namespace dmlconform::cpu {
namespace {

using namespace rounding;

constexpr std::string_view one_rounding = "one rounding";  // D3D 3.1.3: to nearest or towards zero

bool has_zero(const Interval& x) {
    return x.low <= 0 && x.high >= 0;
}

double variance_of_difference(const Interval& a, const Interval& b) {
    return a.variance + b.variance;
}

/// True if the exact values differ by more than expected errors explain.
bool differ_clearly(const Interval& a, const Interval& b) {
    const double distance = a.value - b.value;
    return distance * distance > clear_distance * clear_distance * variance_of_difference(a, b);
}

/// If every candidate is NaN because both ends of one interval are infinite, the finite numbers in between give zero.
template <std::size_t N>
DMLCONFORM_INLINED inline Interval hull_or_zero(const std::array<double, N>& candidates, const Interval& a,
                                                const Interval& b, bool nan) {
    const Interval hull = hull_of<N>(candidates, nan);
    return hull.has_numbers() || (a.low == a.high && b.low == b.high) ? hull : Interval{-0.0, 0.0, true};
}

/// f of an interval, for an increasing step function. If the argument is near a step, the expected error is unknown.
template <class F>
Interval in_steps(const Interval& argument, F&& f) {
    const Interval x = flushed(argument);
    if (!x.has_numbers()) {
        return only_nan();
    }
    const double reach = clear_distance * std::sqrt(x.variance);
    const bool is_clear = f(x.value - reach) == f(x.value + reach);
    return with({f(x.low), f(x.high), x.nan, 0, 0}, {f(x.value), is_clear ? 0 : Interval::unknown});
}

}  // namespace

Interval::Interval(double number) : low(number), high(number), nan(std::isnan(number)), value(number) {
    if (nan) {
        low = infinity;
        high = -infinity;
        value = 0;
    }
}

Interval::Interval(double from, double to, bool or_nan)
    : low(from),
      high(to),
      nan(or_nan),
      value(from == to ? from : from / 2 + to / 2),
      variance(from == to ? 0 : uniform_variance((to - from) / 2)) {}

bool Interval::contains(double number) const {
    return std::isnan(number) ? nan : low <= number && number <= high;
}

double expected_error(const Interval& x) {
    const double half = (x.high - x.low) / 2;
    // Also false for NaN.
    const bool is_known = !x.nan && half > 0 && half < infinity && x.variance > 0 && x.variance < infinity;
    return is_known ? std::min(std::sqrt(x.variance), half) : 0;
}

Interval hull(const Interval& a, const Interval& b) {
    const bool both = a.has_numbers() && b.has_numbers();
    // NaN, which stands for unknown, must win.
    const double variance = both              ? (a.variance >= b.variance ? a.variance : b.variance + 0 * a.variance)
                            : a.has_numbers() ? a.variance
                                              : b.variance;
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.nan || b.nan, a.has_numbers() ? a.value : b.value,
            variance};
}

Interval operator-(const Interval& a) {
    return {-a.high, -a.low, a.nan, -a.value, a.variance};
}

Interval operator+(const Interval& left, const Interval& right) {
    IntervalNotes::add("+", one_rounding);
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return only_nan();
    }
    // Adding 0 is exact.
    const bool is_copy = (a.low == 0 && a.high == 0) || (b.low == 0 && b.high == 0);
    const double value = a.value + b.value;
    const Expected expected{value, a.variance + b.variance + (is_copy ? 0 : rounding_variance(value))};
    const bool nan = a.nan || b.nan || (std::isinf(a.low) && a.low < 0 && std::isinf(b.high) && b.high > 0) ||
                     (std::isinf(a.high) && a.high > 0 && std::isinf(b.low) && b.low < 0);
    // The sum of two doubles and its error (Knuth), so that sums beyond 53 bits are rounded outwards as well.
    const auto sum = [](double x, double y, double direction) {
        const double total = x + y;
        const double part = total - x;
        const double rest = (x - (total - part)) + (y - part);
        return rest * direction > 0 ? std::nextafter(total, direction * infinity) : total;
    };
    const double low = sum(a.low, b.low, -1);
    const double high = sum(a.high, b.high, 1);
    if (std::isnan(low) && std::isnan(high)) {
        return only_nan();
    }
    return rounded(std::isnan(low) ? -infinity : low, std::isnan(high) ? infinity : high, nan, expected);
}

Interval operator-(const Interval& a, const Interval& b) {
    return a + -b;
}

namespace {

/// True if multiplying by the number is exact.
bool is_power_of_two(const Interval& x) {
    constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52) - 1;
    return x.low == x.high && (std::bit_cast<std::uint64_t>(x.low) & mantissa) == 0;
}

Expected expected_product(const Interval& a, const Interval& b) {
    const double value = a.value * b.value;
    const double own = is_power_of_two(a) || is_power_of_two(b) ? 0 : rounding_variance(value);
    return {value, passed_on(a.variance, b.value) + passed_on(b.variance, a.value) + own};
}

Expected expected_quotient(const Interval& a, const Interval& b) {
    const double value = a.value / b.value;
    return {value, passed_on(a.variance, 1 / b.value) + passed_on(b.variance, value / b.value)};
}

}  // namespace

Interval operator*(const Interval& left, const Interval& right) {
    IntervalNotes::add("*", one_rounding);
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return only_nan();
    }
    // Zero may be inside the interval, where it is not among the candidates.
    const bool nan = a.nan || b.nan || (has_zero(a) && has_infinity(b)) || (has_infinity(a) && has_zero(b));
    // Products of FP32 numbers are exact in double, except those that are zero in FP32 anyway.
    const Interval product =
        hull_or_zero<4>({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high}, a, b, nan);
    return product.has_numbers() ? rounded(product.low, product.high, product.nan, expected_product(a, b)) : only_nan();
}

Interval operator/(const Interval& left, const Interval& right) {
    IntervalNotes::add("/", "1 ULP");
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return only_nan();
    }
    const bool nan = a.nan || b.nan || (has_zero(a) && has_zero(b)) || (has_infinity(a) && has_infinity(b));
    if (b.low < 0 && b.high > 0) {
        return {-infinity, infinity, nan, a.value / b.value, Interval::unknown};
    }
    const Interval quotient =
        hull_or_zero<4>({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high}, a, b, nan);
    return quotient.has_numbers() ? within_one_ulp(quotient.low, quotient.high, quotient.nan, expected_quotient(a, b))
                                  : only_nan();
}

namespace {

Choice compared(bool may_hold, bool may_fail, bool holds, bool differ) {
    return may_hold != may_fail ? Choice{may_hold, may_fail} : Choice{may_hold, may_fail, holds, differ};
}

}  // namespace

Choice operator<(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return {false, true};
    }
    return compared(a.low < b.high, a.nan || b.nan || a.high >= b.low, a.value < b.value, differ_clearly(a, b));
}

Choice operator<=(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return {false, true};
    }
    return compared(a.low <= b.high, a.nan || b.nan || a.high > b.low, a.value <= b.value, differ_clearly(a, b));
}

Choice operator==(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return {false, true};
    }
    const bool one_each = a.low == a.high && b.low == b.high;
    return compared(a.low <= b.high && b.low <= a.high, a.nan || b.nan || !one_each || a.low != b.low,
                    a.value == b.value, differ_clearly(a, b));
}

Interval select(Choice choice, const Interval& a, const Interval& b) {
    if (choice.may_hold && choice.may_fail) {
        const Interval both = hull(a, b);
        const Interval& taken = choice.holds ? a : b;
        const double difference = a.value - b.value;
        return both.with_expected(taken.value,
                                  choice.is_clear ? taken.variance : both.variance + difference * difference);
    }
    return choice.may_hold ? a : b;
}

Choice is_nan(const Interval& x) {
    return {x.nan, x.has_numbers()};
}

Choice is_infinite(const Interval& x) {
    return {has_infinity(x), x.nan || (x.has_numbers() && !(std::isinf(x.low) && x.low == x.high))};
}

Interval abs(const Interval& x) {
    if (!x.has_numbers() || x.low >= 0) {
        return x;
    }
    return x.high <= 0 ? -x : Interval{0, std::max(-x.low, x.high), x.nan, std::fabs(x.value), x.variance};
}

Interval min(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return a.has_numbers() ? a : b;
    }
    const Interval& lesser = b.value < a.value ? b : a;
    Interval result{std::min(a.low, b.low), std::min(a.high, b.high), a.nan && b.nan, lesser.value,
                    differ_clearly(a, b) ? lesser.variance : std::max(a.variance, b.variance)};
    result = a.nan ? hull(result, {b.low, b.high, false, b.value, b.variance}) : result;
    return b.nan ? hull(result, {a.low, a.high, false, a.value, a.variance}) : result;
}

Interval max(const Interval& a, const Interval& b) {
    return -min(-a, -b);
}

Interval floor(const Interval& x) {
    return in_steps(x, [](double end) { return std::floor(end); });
}

Interval ceil(const Interval& x) {
    return in_steps(x, [](double end) { return std::ceil(end); });
}

Interval trunc(const Interval& x) {
    return in_steps(x, [](double end) { return std::trunc(end); });
}

Interval integer_in_fp32(const Interval& x) {
    IntervalNotes::add("conversion of integers", one_rounding);
    return x.has_numbers() ? rounded(x.low, x.high, x.nan, {x.value, x.variance + rounding_variance(x.value)}) : x;
}

Interval round_half_even(const Interval& x) {
    return in_steps(x, [](double end) { return std::nearbyint(end); });
}

Interval round_half_away(const Interval& x) {
    return in_steps(x, [](double end) { return std::round(end); });
}

}  // namespace dmlconform::cpu

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
#include <cstdint>
#include <limits>
#include <numbers>
#include <string_view>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"

namespace dmlconform::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = core::float32.largest;

// ---- what is guaranteed ------------------------------------------------------------------------------------------

// Sources: "D3D" is the Direct3D 11.3 Functional Specification, 3.1.3 "32-bit Floating Point" and 22.10 "Floating Point
// Arithmetic Instructions". "HLSL" marks functions without an instruction, which shader compilers expand. "A&S" is
// Abramowitz & Stegun, Handbook of Mathematical Functions, for those that use a polynomial.
constexpr double exp2_relative = 0x1p-21;  // D3D 22.10.6 exp
constexpr double log2_error = 0x1p-21;     // D3D 22.10.11 log: absolute for arguments in [0.5, 2], otherwise relative
constexpr double sine_absolute = 0.0008;   // D3D 22.10.20 sincos, for arguments in [-100 pi, 100 pi]
constexpr double sine_range = 100 * std::numbers::pi;
constexpr double asin_absolute = 7e-5;    // HLSL: A&S 4.4.45, 6.8e-5 plus roundings
constexpr double atan_absolute = 1.2e-5;  // HLSL: A&S 4.4.47, 1e-5 plus roundings
// HLSL: A&S 7.1.26, 1.5e-7, computed with exp and a reciprocal
constexpr double erf_absolute = 0x1p-20;
constexpr std::string_view one_rounding = "one rounding";  // D3D 3.1.3: to nearest or towards zero

}  // namespace

// ---- history -----------------------------------------------------------------------------------------------------

namespace {
thread_local IntervalHistory* current = nullptr;
}  // namespace

struct IntervalNotes {
    static void add(std::string_view operation, std::string_view error) {
        if (current != nullptr) {
            write(operation, error);
        }
    }

private:
    static void write(std::string_view operation, std::string_view error) {
        std::string& text = current->text_;
        std::string note(operation);
        note += ": ";
        note += error;
        if (("; " + text + ";").find("; " + note + ";") == std::string::npos) {
            text += text.empty() ? note : "; " + note;
        }
    }
};

IntervalHistory::IntervalHistory() : outer_(current) {
    current = this;
}

IntervalHistory::~IntervalHistory() {
    current = outer_;
}

namespace {

// ---- numbers of FP32 ---------------------------------------------------------------------------------------------

/// The smallest power of two beyond FP32's range.
constexpr double beyond = 0x1p128;

double down_outside(double x);

/// The largest FP32 number that is not above x, with an unlimited exponent. Where one implementation overflows to
/// infinity, another one may reorder operations and stay finite, so later steps must accept the whole interval from the
/// number to infinity. When stored, such an interval contains no FP32 number except infinity.
double down(double x) {
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

/// The same for what is no finite number of FP32's range.
double down_outside(double x) {
    if (!std::isfinite(x)) {
        return x;
    }
    if (x < beyond) {
        return x < 0 ? -infinity : largest;
    }
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    return std::ldexp(down(mantissa), exponent);
}

double up(double x) {
    return -down(-x);
}

/// The smallest FP32 number that is not below x; x itself beyond FP32's range.
double inwards_from_below(double x) {
    return x >= beyond ? x : x <= -beyond ? -infinity : up(x);
}

/// One ULP of FP32 at a finite x.
double ulp_of(double x) {
    constexpr std::uint64_t exponent = std::uint64_t{0x7ff} << 52;
    const double magnitude = std::max(std::fabs(x), core::float32.smallest_normal);
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & exponent) * core::float32.one_rounding;
}

/// Adds zero if implementations may flush x to zero as an operand or a result. Then the whole subnormal number is an
/// error.
Interval flushed(Interval x) {
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

bool has_zero(const Interval& x) {
    return x.low <= 0 && x.high >= 0;
}

bool has_infinity(const Interval& x) {
    return x.has_numbers() && (std::isinf(x.low) || std::isinf(x.high));
}

/// The interval that contains only NaN.
Interval only_nan() {
    return {infinity, -infinity, true, 0, Interval::unknown};
}

double variance_of_difference(const Interval& a, const Interval& b) {
    return a.variance + b.variance;
}

/// True if the exact values differ by more than expected errors explain.
bool differ_clearly(const Interval& a, const Interval& b) {
    const double distance = a.value - b.value;
    return distance * distance > clear_distance * clear_distance * variance_of_difference(a, b);
}

/// An exact value and the variance of its error.
struct Expected {
    double value = 0;
    double variance = Interval::unknown;
};

/// Propagates an error by the function's derivative. Exact numbers have no error, even if the derivative is infinite.
double passed_on(double variance, double derivative) {
    return variance == 0 ? 0 : variance * derivative * derivative;
}

/// Combines a range with its expected value and variance. A range of a single number has no error.
Interval with(const Interval& range, const Expected& expected) {
    return range.low == range.high ? range.with_expected(range.low, 0)
                                   : range.with_expected(expected.value, expected.variance);
}

/// The FP32 numbers around these reals.
Interval rounded(double low, double high, bool nan, const Expected& expected) {
    return flushed(with({down(low), up(high), nan, 0, 0}, expected));
}

/// Also accounts for the errors of the double-precision functions that computed the ends.
Interval rounded_function(double low, double high, bool nan, const Expected& expected) {
    const auto libm = [](double end) { return std::isinf(end) ? 0 : std::fabs(end) * 0x1p-50; };
    return rounded(low - libm(low), high + libm(high), nan, expected);
}

/// Both ends may be one ULP off. The variance does not include that yet.
Interval within_one_ulp(double low, double high, bool nan, const Expected& exact) {
    const Expected expected{exact.value,
                            exact.variance + uniform_variance(2 * core::float32.half_rounding * exact.value)};
    if (std::isinf(low) || std::isinf(high)) {
        return rounded(std::isinf(low) ? low : low - ulp_of(low), std::isinf(high) ? high : high + ulp_of(high), nan,
                       expected);
    }
    // Rounds inwards, because Direct3D guarantees these bounds.
    return flushed(with({inwards_from_below(low - ulp_of(low)), -inwards_from_below(-(high + ulp_of(high))), nan, 0, 0},
                        expected));
}

/// The hull of candidates. A NaN among them means that NaN is possible.
template <std::size_t N>
Interval hull_of(const std::array<double, N>& candidates, bool nan) {
    Interval result{infinity, -infinity, nan, 0, 0};
    // Without branches: the comparisons are false for NaN.
    for (const double candidate : candidates) {
        result.nan = result.nan | std::isnan(candidate);
        result.low = candidate < result.low ? candidate : result.low;
        result.high = candidate > result.high ? candidate : result.high;
    }
    return result;
}

/// If every candidate is NaN because both ends of one interval are infinite, the finite numbers in between give zero.
template <std::size_t N>
Interval hull_or_zero(const std::array<double, N>& candidates, const Interval& a, const Interval& b, bool nan) {
    const Interval hull = hull_of<N>(candidates, nan);
    return hull.has_numbers() || (a.low == a.high && b.low == b.high) ? hull : Interval{-0.0, 0.0, true};
}

/// The part of x between `from` and `to`. Numbers outside give NaN.
Interval restricted(Interval x, double from, double to) {
    x.nan = x.nan || x.low < from || x.high > to;
    x.low = std::max(x.low, from);
    x.high = std::min(x.high, to);
    x.value = std::clamp(x.value, from, to);
    return x;
}

/// f of an interval, for an increasing f. Errors propagate by the derivative at the exact value.
template <class F>
Interval monotone(const Interval& x, F&& f, double derivative) {
    if (!x.has_numbers()) {
        return only_nan();
    }
    const double low = f(x.low);
    const auto at = [&](double number) { return number == x.low && number != 0 ? low : f(number); };
    return {low, at(x.high), x.nan, at(x.value), passed_on(x.variance, derivative)};
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

Interval plus_error(const Interval& x, double absolute, double relative) {
    if (!x.has_numbers()) {
        return x;
    }
    const auto error = [&](double end) { return std::isinf(end) ? 0 : absolute + relative * std::fabs(end); };
    return rounded_function(x.low - error(x.low), x.high + error(x.high), x.nan,
                            {x.value, x.variance + uniform_variance(error(x.value))});
}

/// A constant that FP32 cannot represent. Compilers and authors of shaders fold it with its factor, which rounds once
/// more.
Interval constant(double value) {
    return {down(value) - ulp_of(value), up(value) + ulp_of(value), false, value, 2 * rounding_variance(value)};
}

/// 2^x.
Interval exp2_of(const Interval& x) {
    const double derivative = x.variance == 0 ? 0 : std::exp2(x.value) * std::numbers::ln2;
    const Interval power = monotone(
        x, [](double end) { return std::exp2(end); }, derivative);
    return plus_error(power, 0, exp2_relative);
}

Interval log2_of(const Interval& argument) {
    const Interval x = restricted(flushed(argument), -0.0, infinity);
    if (!x.has_numbers()) {
        return only_nan();
    }
    const auto error = [](double end) {
        const double value = std::log2(end);
        const bool near_one = end >= 0.5 && end <= 2;
        return std::isinf(value) ? 0 : near_one ? log2_error : log2_error * std::fabs(value);
    };
    const double low = std::log2(std::fabs(x.low));
    const double high = std::log2(std::fabs(x.high));
    const double variance =
        passed_on(x.variance, std::numbers::log2e / x.value) + uniform_variance(error(std::fabs(x.value)));
    return rounded_function(low - error(std::fabs(x.low)), high + error(std::fabs(x.high)), x.nan,
                            {std::log2(std::fabs(x.value)), variance});
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

// ---- arithmetic --------------------------------------------------------------------------------------------------

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

Interval round_half_even(const Interval& x) {
    return in_steps(x, [](double end) { return std::nearbyint(end); });
}

Interval round_half_away(const Interval& x) {
    return in_steps(x, [](double end) { return std::round(end); });
}

// ---- functions ---------------------------------------------------------------------------------------------------

Interval sqrt(const Interval& x) {
    IntervalNotes::add("sqrt", "1 ULP");
    const Interval argument = restricted(flushed(x), -0.0, infinity);
    const Interval root = monotone(
        argument, [](double end) { return std::sqrt(end); }, 0.5 / std::sqrt(argument.value));
    return root.has_numbers() ? within_one_ulp(root.low, root.high, root.nan, {root.value, root.variance}) : only_nan();
}

Interval exp(const Interval& x) {
    IntervalNotes::add("exp", "2^-21 relative, of an argument scaled to base 2");
    return exp2_of(x * constant(std::numbers::log2e));
}

Interval expm1(const Interval& x) {
    return exp(x) - 1;
}

Interval log(const Interval& x) {
    IntervalNotes::add("log", "2^-21 absolute in [0.5, 2], else relative");
    return log2_of(x) * constant(std::numbers::ln2);
}

Interval log1p(const Interval& x) {
    return log(1 + x);
}

Interval through_base_2(const Interval& x) {
    return x * constant(std::numbers::log2e) * constant(std::numbers::ln2);
}

Interval pow(const Interval& base, const Interval& exponent) {
    IntervalNotes::add("pow", "exp2(y * log2(x))");
    if (exponent.low == 0 && exponent.high == 0 && !exponent.nan) {
        return 1.0;
    }
    const double whole = std::nearbyint(exponent.low);
    const bool is_whole = whole == exponent.low;
    const Interval magnitude = exp2_of(exponent * log2_of(abs(base)));
    if (!base.has_numbers() || !std::signbit(base.low)) {
        return magnitude;
    }
    if (exponent.low != exponent.high) {
        return hull(hull(magnitude, -magnitude), only_nan());
    }
    if (!is_whole && base.low == 0) {
        return magnitude;
    }
    if (!is_whole) {
        // Negative numbers, however small, have no such power. But -0 has one, and by IEEE 754 so has -infinity.
        return base.high < 0 && !has_infinity(base) ? only_nan() : hull(magnitude, only_nan());
    }
    const bool odd = std::isfinite(whole) && std::fmod(whole, 2) != 0;
    return !odd ? magnitude : base.high < 0 ? -magnitude : hull(magnitude, -magnitude);
}

namespace {

/// sin(x + quarter * pi / 2)
Interval sine(const Interval& argument, int quarter) {
    const Interval x = flushed(argument);
    IntervalNotes::add(quarter == 0 ? "sin" : "cos", "0.0008 absolute up to 100 pi");
    const bool nan = x.nan || std::isinf(x.low) || std::isinf(x.high);
    if (!x.has_numbers() || (std::isinf(x.low) && x.low == x.high)) {
        return only_nan();
    }
    constexpr double half_pi = std::numbers::pi / 2;
    if (x.low < -sine_range || x.high > sine_range || x.high - x.low >= std::numbers::pi) {
        return {-1 - sine_absolute, 1 + sine_absolute, nan, 0, Interval::unknown};
    }
    const auto at = [&](double end) { return quarter == 0 ? std::sin(end) : std::cos(end); };
    const double derivative = quarter == 0 ? std::cos(x.value) : std::sin(x.value);
    Interval result{std::min(at(x.low), at(x.high)), std::max(at(x.low), at(x.high)), nan, at(x.value),
                    passed_on(x.variance, derivative)};
    // Extremes of sin are at odd multiples of pi / 2, those of cos at even ones.
    for (double k = std::ceil(x.low / half_pi); k * half_pi <= x.high; ++k) {
        result.low = std::min(result.low, at(k * half_pi));
        result.high = std::max(result.high, at(k * half_pi));
    }
    return plus_error(result, sine_absolute, 0);
}

}  // namespace

Interval sin(const Interval& x) {
    return sine(x, 0);
}

Interval cos(const Interval& x) {
    return sine(x, 1);
}

Interval tan(const Interval& x) {
    return sin(x) / cos(x);
}

namespace {

/// One of two functions whose derivatives differ only in sign.
template <class F>
Interval arc(const Interval& argument, F&& f) {
    const Interval x = restricted(flushed(argument), -1, 1);
    return plus_error(monotone(x, f, 1 / std::sqrt(1 - x.value * x.value)), asin_absolute, 0);
}

}  // namespace

Interval asin(const Interval& x) {
    IntervalNotes::add("asin", "7e-5 absolute");
    return arc(x, [](double end) { return std::asin(end); });
}

Interval acos(const Interval& x) {
    IntervalNotes::add("acos", "7e-5 absolute");
    return -arc(x, [](double end) { return -std::acos(end); });
}

Interval atan(const Interval& x) {
    IntervalNotes::add("atan", "1.2e-5 absolute");
    const double derivative = 1 / (1 + x.value * x.value);
    return plus_error(monotone(
                          flushed(x), [](double end) { return std::atan(end); }, derivative),
                      atan_absolute, 0);
}

Interval atan2(const Interval& y_argument, const Interval& x_argument) {
    IntervalNotes::add("atan2", "1.2e-5 absolute");
    const Interval y = flushed(y_argument);
    const Interval x = flushed(x_argument);
    if (!y.has_numbers() || !x.has_numbers()) {
        return only_nan();
    }
    const bool nan = y.nan || x.nan;
    if (y.low <= 0 && y.high >= 0 && x.low <= 0) {
        // At the branch cut, both sides are possible.
        return {-std::numbers::pi - atan_absolute, std::numbers::pi + atan_absolute, nan || x.high >= 0, 0,
                Interval::unknown};
    }
    const Interval angle = hull_of<4>(
        {std::atan2(y.low, x.low), std::atan2(y.low, x.high), std::atan2(y.high, x.low), std::atan2(y.high, x.high)},
        nan);
    const double square = x.value * x.value + y.value * y.value;
    const double variance = passed_on(y.variance, x.value / square) + passed_on(x.variance, y.value / square);
    return plus_error(angle.with_expected(std::atan2(y.value, x.value), variance), atan_absolute, 0);
}

namespace {

/// f(|x|) with the sign of x, for an odd function that is defined for positive arguments.
template <class F>
Interval odd(const Interval& x, F&& f) {
    if (!x.has_numbers() || x.low >= 0) {
        return f(x);
    }
    if (x.high <= 0) {
        return -f(-x);
    }
    const double magnitude = std::fabs(x.value);
    const Interval negative = -f({0, -x.low, x.nan, magnitude, x.variance});
    const Interval positive = f({0, x.high, x.nan, magnitude, x.variance});
    return x.value < 0 ? hull(negative, positive) : hull(positive, negative);
}

}  // namespace

Interval sinh(const Interval& x) {
    return (exp(x) - exp(-x)) * 0.5;
}

Interval cosh(const Interval& x) {
    return (exp(x) + exp(-x)) * 0.5;
}

Interval tanh(const Interval& x) {
    return odd(x, [](const Interval& side) {
        const Interval e = exp(-2 * side);
        return (1 - e) / (1 + e);
    });
}

Interval asinh(const Interval& x) {
    return odd(x, [](const Interval& side) { return log(side + sqrt(side * side + 1)); });
}

Interval acosh(const Interval& argument) {
    const Interval x = restricted(argument, 1, infinity);
    return log(x + sqrt(max(x * x - 1, 0))) + Interval{0, 0, x.nan};
}

Interval atanh(const Interval& argument) {
    return odd(restricted(argument, -1, 1), [](const Interval& x) { return log((1 + x) / (1 - x)) * 0.5; });
}

Interval erf(const Interval& x) {
    IntervalNotes::add("erf", "2^-20 absolute");
    const double derivative = 2 * std::numbers::inv_sqrtpi * std::exp(-x.value * x.value);
    return plus_error(monotone(
                          flushed(x), [](double end) { return std::erf(end); }, derivative),
                      erf_absolute, 0);
}

}  // namespace dmlconform::cpu

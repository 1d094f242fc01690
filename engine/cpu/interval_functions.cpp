// Functions of intervals, with the accuracy that Direct3D guarantees for each.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/cpu/interval_notes.h"
#include "engine/cpu/interval_rounding.h"

namespace dmlconform::cpu {
namespace {

using namespace rounding;

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

/// Also accounts for the errors of the double-precision functions that computed the ends.
Interval rounded_function(double low, double high, bool nan, const Expected& expected) {
    const auto libm = [](double end) { return std::isinf(end) ? 0 : std::fabs(end) * 0x1p-50; };
    return rounded(low - libm(low), high + libm(high), nan, expected);
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
    return {down(value) - one_ulp(value), up(value) + one_ulp(value), false, value, 2 * rounding_variance(value)};
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

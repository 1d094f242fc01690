// The guarantees, and arithmetic that applies them.
#include "engine/cpu/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

namespace dmlconform::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<float>::max();
constexpr double smallest_normal = std::numeric_limits<float>::min();

// ---- what is guaranteed ------------------------------------------------------------------------------------------

// D3D: the Direct3D 11.3 Functional Specification, 3.1.3 "32-bit Floating Point" and 22.10 "Floating Point Arithmetic
// Instructions". HLSL: functions that Direct3D has no instruction for, as the shader compilers write them in terms of
// those (Abramowitz & Stegun, Handbook of Mathematical Functions, where there is a polynomial).
constexpr double exp2_relative = 0x1p-21;  // D3D 22.10.6 exp
constexpr double log2_error = 0x1p-21;     // D3D 22.10.11 log: absolute for arguments in [0.5, 2], else relative
constexpr double sine_absolute = 0.0008;   // D3D 22.10.20 sincos, for arguments in [-100 pi, 100 pi]
constexpr double sine_range = 100 * std::numbers::pi;
constexpr double asin_absolute = 7e-5;                     // HLSL: A&S 4.4.45, 6.8e-5, and roundings
constexpr double atan_absolute = 1.2e-5;                   // HLSL: A&S 4.4.47, 1e-5, and roundings
constexpr double erf_absolute = 0x1p-20;                   // HLSL: A&S 7.1.26, 1.5e-7, on exp and a reciprocal
constexpr std::string_view one_rounding = "one rounding";  // D3D 3.1.3: to nearest or towards zero

}  // namespace

// ---- history -----------------------------------------------------------------------------------------------------

namespace {
thread_local IntervalHistory* current = nullptr;
}  // namespace

struct IntervalNotes {
    static void add(std::string_view operation, std::string_view error) {
        if (current == nullptr) {
            return;
        }
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

/// The least number that is too large for FP32.
constexpr double beyond = 0x1p128;

/// The largest FP32 number that is not above x. Beyond the range the exponent goes on: where one implementation has an
/// infinity on its way, another takes a way without one, so that the interval from the number to infinity is what later
/// steps may start from. As a result it holds no FP32 number but infinity.
double down(double x) {
    if (std::isinf(x)) {
        return x;
    }
    if (x >= beyond) {
        int exponent = 0;
        const double mantissa = std::frexp(x, &exponent);
        return std::ldexp(down(mantissa), exponent);
    }
    if (x > largest) {
        return largest;
    }
    const auto nearest = static_cast<float>(x);
    return double{nearest} > x ? double{std::nextafter(nearest, -std::numeric_limits<float>::infinity())}
                               : double{nearest};
}

double up(double x) {
    return -down(-x);
}

/// The least FP32 number that is not below x, or x beyond the range.
double inwards_from_below(double x) {
    return x >= beyond ? x : x <= -beyond ? -infinity : up(x);
}

/// A place of FP32 at x.
double place(double x) {
    int exponent = 0;
    (void)std::frexp(std::max(std::fabs(x), smallest_normal), &exponent);
    return std::ldexp(1.0, exponent - 24);
}

/// What may be flushed to zero on the way in and out.
Interval flushed(Interval x) {
    if (x.has_numbers()) {
        if (x.low > 0 && x.low < smallest_normal) {
            x.low = 0;
        }
        if (x.high < 0 && x.high > -smallest_normal) {
            x.high = -0.0;
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

/// Nothing but NaN.
Interval only_nan() {
    return {infinity, -infinity, true};
}

/// FP32 numbers on both sides of these reals.
Interval rounded(double low, double high, bool nan) {
    return flushed({down(low), up(high), nan});
}

/// With errors of the double precision that the ends were computed in.
Interval rounded_function(double low, double high, bool nan) {
    const auto libm = [](double end) { return std::isinf(end) ? 0 : std::fabs(end) * 0x1p-50; };
    return rounded(low - libm(low), high + libm(high), nan);
}

/// The ends may be so many places off.
Interval within_places(double low, double high, double places, bool nan) {
    if (std::isinf(low) || std::isinf(high)) {
        return rounded(std::isinf(low) ? low : low - places * place(low),
                       std::isinf(high) ? high : high + places * place(high), nan);
    }
    // Inwards: what is further than that is not allowed.
    return flushed(
        {inwards_from_below(low - places * place(low)), -inwards_from_below(-(high + places * place(high))), nan});
}

/// The hull of candidates, of which NaN ones say that NaN is possible.
template <std::size_t N>
Interval hull_of(const std::array<double, N>& candidates, bool nan) {
    Interval result{infinity, -infinity, nan};
    for (const double candidate : candidates) {
        if (std::isnan(candidate)) {
            result.nan = true;
        } else {
            result.low = std::min(result.low, candidate);
            result.high = std::max(result.high, candidate);
        }
    }
    return result;
}

/// Where every candidate is NaN, because both ends of one interval are infinite, the numbers between them give zero.
template <std::size_t N>
Interval hull_or_zero(const std::array<double, N>& candidates, const Interval& a, const Interval& b, bool nan) {
    const Interval hull = hull_of<N>(candidates, nan);
    return hull.has_numbers() || (a.low == a.high && b.low == b.high) ? hull : Interval{-0.0, 0.0, true};
}

/// The part of x from `from` to `to`; what lies outside gives NaN.
Interval restricted(Interval x, double from, double to) {
    x.nan = x.nan || x.low < from || x.high > to;
    x.low = std::max(x.low, from);
    x.high = std::min(x.high, to);
    return x;
}

/// f of an interval on which it grows.
template <class F>
Interval monotone(const Interval& x, F&& f) {
    return x.has_numbers() ? Interval{f(x.low), f(x.high), x.nan} : only_nan();
}

Interval plus_error(const Interval& x, double absolute, double relative) {
    if (!x.has_numbers()) {
        return x;
    }
    const auto error = [&](double end) { return std::isinf(end) ? 0 : absolute + relative * std::fabs(end); };
    return rounded_function(x.low - error(x.low), x.high + error(x.high), x.nan);
}

/// A constant that is not an FP32 number. Compilers, and those who write shaders, fold it with what it is multiplied
/// by, which rounds once more.
Interval constant(double value) {
    return {down(value) - place(value), up(value) + place(value), false};
}

/// 2^x.
Interval exp2_of(const Interval& x) {
    const Interval power = monotone(x, [](double end) { return std::exp2(end); });
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
    return rounded_function(low - error(std::fabs(x.low)), high + error(std::fabs(x.high)), x.nan);
}

}  // namespace

Interval::Interval(double value) : low(value), high(value), nan(std::isnan(value)) {
    if (nan) {
        low = infinity;
        high = -infinity;
    }
}

bool Interval::contains(double value) const {
    return std::isnan(value) ? nan : low <= value && value <= high;
}

Interval hull(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.nan || b.nan};
}

// ---- arithmetic --------------------------------------------------------------------------------------------------

Interval operator-(const Interval& a) {
    return {-a.high, -a.low, a.nan};
}

Interval operator+(const Interval& left, const Interval& right) {
    IntervalNotes::add("+", one_rounding);
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return only_nan();
    }
    const bool nan = a.nan || b.nan || (std::isinf(a.low) && a.low < 0 && std::isinf(b.high) && b.high > 0) ||
                     (std::isinf(a.high) && a.high > 0 && std::isinf(b.low) && b.low < 0);
    // The sum of two doubles and what it leaves (Knuth), so that sums beyond 53 bits are rounded outwards too.
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
    return rounded(std::isnan(low) ? -infinity : low, std::isnan(high) ? infinity : high, nan);
}

Interval operator-(const Interval& a, const Interval& b) {
    return a + -b;
}

Interval operator*(const Interval& left, const Interval& right) {
    IntervalNotes::add("*", one_rounding);
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return only_nan();
    }
    // Zero may lie between the ends, where no candidate shows it.
    const bool nan = a.nan || b.nan || (has_zero(a) && has_infinity(b)) || (has_infinity(a) && has_zero(b));
    // Exact in double for FP32 numbers, but for results that are zero in FP32 anyway.
    const Interval product =
        hull_or_zero<4>({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high}, a, b, nan);
    return product.has_numbers() ? rounded(product.low, product.high, product.nan) : only_nan();
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
        return {-infinity, infinity, nan};
    }
    const Interval quotient =
        hull_or_zero<4>({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high}, a, b, nan);
    return quotient.has_numbers() ? within_places(quotient.low, quotient.high, 1, quotient.nan) : only_nan();
}

Choice operator<(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return {false, true};
    }
    return {a.low < b.high, a.nan || b.nan || a.high >= b.low};
}

Choice operator<=(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return {false, true};
    }
    return {a.low <= b.high, a.nan || b.nan || a.high > b.low};
}

Choice operator==(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return {false, true};
    }
    const bool one_each = a.low == a.high && b.low == b.high;
    return {a.low <= b.high && b.low <= a.high, a.nan || b.nan || !one_each || a.low != b.low};
}

Interval select(Choice choice, const Interval& a, const Interval& b) {
    if (choice.may_hold && choice.may_fail) {
        return hull(a, b);
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
    return x.high <= 0 ? -x : Interval{0, std::max(-x.low, x.high), x.nan};
}

Interval min(const Interval& left, const Interval& right) {
    const Interval a = flushed(left);
    const Interval b = flushed(right);
    if (!a.has_numbers() || !b.has_numbers()) {
        return a.has_numbers() ? a : b;
    }
    Interval result{std::min(a.low, b.low), std::min(a.high, b.high), false};
    result = a.nan ? hull(result, {b.low, b.high, false}) : result;
    return b.nan ? hull(result, {a.low, a.high, false}) : result;
}

Interval max(const Interval& a, const Interval& b) {
    return -min(-a, -b);
}

Interval floor(const Interval& x) {
    return monotone(flushed(x), [](double end) { return std::floor(end); });
}

Interval ceil(const Interval& x) {
    return monotone(flushed(x), [](double end) { return std::ceil(end); });
}

Interval trunc(const Interval& x) {
    return monotone(flushed(x), [](double end) { return std::trunc(end); });
}

Interval round_half_even(const Interval& x) {
    return monotone(flushed(x), [](double end) { return std::nearbyint(end); });
}

Interval round_half_away(const Interval& x) {
    return monotone(flushed(x), [](double end) { return std::round(end); });
}

// ---- functions ---------------------------------------------------------------------------------------------------

Interval sqrt(const Interval& x) {
    IntervalNotes::add("sqrt", "1 ULP");
    const Interval root = monotone(restricted(flushed(x), -0.0, infinity), [](double end) { return std::sqrt(end); });
    return root.has_numbers() ? within_places(root.low, root.high, 1, root.nan) : only_nan();
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
        // What is negative has no such power, however near to zero; but -0 has, and by IEEE 754 -infinity.
        return base.high < 0 && !has_infinity(base) ? only_nan() : hull(magnitude, only_nan());
    }
    const bool odd = std::isfinite(whole) && std::fmod(whole, 2) != 0;
    return !odd ? magnitude : base.high < 0 ? -magnitude : hull(magnitude, -magnitude);
}

namespace {

/// sin(x + quarter * pi / 2).
Interval sine(const Interval& argument, int quarter) {
    const Interval x = flushed(argument);
    IntervalNotes::add(quarter == 0 ? "sin" : "cos", "0.0008 absolute up to 100 pi");
    const bool nan = x.nan || std::isinf(x.low) || std::isinf(x.high);
    if (!x.has_numbers() || (std::isinf(x.low) && x.low == x.high)) {
        return only_nan();
    }
    constexpr double half_pi = std::numbers::pi / 2;
    if (x.low < -sine_range || x.high > sine_range || x.high - x.low >= std::numbers::pi) {
        return {-1 - sine_absolute, 1 + sine_absolute, nan};
    }
    const auto at = [&](double end) { return quarter == 0 ? std::sin(end) : std::cos(end); };
    Interval result{std::min(at(x.low), at(x.high)), std::max(at(x.low), at(x.high)), nan};
    // Extremes of sin lie at odd multiples of pi / 2, those of cos at even ones.
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

Interval asin(const Interval& x) {
    IntervalNotes::add("asin", "7e-5 absolute");
    return plus_error(monotone(restricted(flushed(x), -1, 1), [](double end) { return std::asin(end); }), asin_absolute,
                      0);
}

Interval acos(const Interval& x) {
    IntervalNotes::add("acos", "7e-5 absolute");
    return plus_error(-monotone(restricted(flushed(x), -1, 1), [](double end) { return -std::acos(end); }),
                      asin_absolute, 0);
}

Interval atan(const Interval& x) {
    IntervalNotes::add("atan", "1.2e-5 absolute");
    return plus_error(monotone(flushed(x), [](double end) { return std::atan(end); }), atan_absolute, 0);
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
        // The cut: both of its sides.
        return {-std::numbers::pi - atan_absolute, std::numbers::pi + atan_absolute, nan || x.high >= 0};
    }
    const Interval angle = hull_of<4>(
        {std::atan2(y.low, x.low), std::atan2(y.low, x.high), std::atan2(y.high, x.low), std::atan2(y.high, x.high)},
        nan);
    return plus_error(angle, atan_absolute, 0);
}

namespace {

/// f of |x| with the sign of x, for an odd function that is written for one side.
template <class F>
Interval odd(const Interval& x, F&& f) {
    if (!x.has_numbers() || x.low >= 0) {
        return f(x);
    }
    if (x.high <= 0) {
        return -f(-x);
    }
    return hull(-f({0, -x.low, x.nan}), f({0, x.high, x.nan}));
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
    return plus_error(monotone(flushed(x), [](double end) { return std::erf(end); }), erf_absolute, 0);
}

}  // namespace dmlconform::cpu

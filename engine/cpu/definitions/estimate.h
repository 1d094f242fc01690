// A number type that says by how much evaluations of a formula in doubles may differ.
//
// A sum of n terms, added in any order, has n - 1 roundings of partial sums, none of which exceeds the sum of all
// magnitudes: its error is at most (n - 1) * 2^-53 * sum of magnitudes (Higham, Accuracy and Stability of Numerical
// Algorithms, section 4.2), plus the errors of the terms. So an estimate has that sum of magnitudes, the number of
// terms, and the errors of the terms. A product has one rounding, and the errors of its factors. It takes the factors'
// sums of magnitudes instead of their values, and so covers evaluations that multiply before they add. A function is
// accurate to a few units in the last place, and moves the error of its argument: it is evaluated at both ends.
//
// All errors are twice as large, because they are those between two evaluations, each of which has its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/element_wise/numbers.h"

namespace dmlconform::cpu::definitions {

/// One rounding of each of two evaluations: 2^-53 is half a unit in the last place of a double.
inline constexpr double double_rounding = 2 * 0x1p-53;
/// C libraries state errors of 1 to 4 units in the last place for the functions that formulas use.
inline constexpr double function_error = 8 * double_rounding;
/// The error that normalisation/exponential.h states for its exponential.
inline constexpr double exponential_error = 2 * 0x1p-43;

struct Estimate {
    double value = 0;
    /// The sum of the magnitudes of the terms, their number, and the sum of their errors.
    double magnitude = 0;
    double terms = 1;
    double errors = 0;

    Estimate() = default;
    Estimate(double number)
        : value(number),
          magnitude(std::isfinite(number) ? std::fabs(number) : 0) {}  // NOLINT(google-explicit-constructor)
    Estimate(double number, double its_magnitude, double its_terms, double its_errors)
        : value(number), magnitude(its_magnitude), terms(its_terms), errors(its_errors) {}

    /// The largest difference of two evaluations.
    [[nodiscard]] double error() const { return errors + (terms == 1 ? 0 : (terms - 1) * double_rounding * magnitude); }
    /// Sums of such numbers are exact.
    [[nodiscard]] bool is_exact_integer() const {
        return error() == 0 && magnitude < 0x1p52 && value == std::trunc(value);
    }
    /// A single term.
    [[nodiscard]] static Estimate rounded(double number, double magnitude, double error) {
        return std::isfinite(number) ? Estimate(number, magnitude, 1, error) : Estimate(number);
    }

    friend Estimate operator-(const Estimate& a) { return {-a.value, a.magnitude, a.terms, a.errors}; }
    friend Estimate operator+(const Estimate& a, const Estimate& b) {
        // The start of a sum, 0, is not a term.
        if (b.value == 0 && b.magnitude == 0 && b.errors == 0) {
            return a.magnitude == 0 ? Estimate{a.value + b.value, 0, 1, a.errors} : a;
        }
        if (a.value == 0 && a.magnitude == 0 && a.errors == 0) {
            return b;
        }
        if (a.is_exact_integer() && b.is_exact_integer()) {
            return rounded(a.value + b.value, a.magnitude + b.magnitude, 0);
        }
        if (!std::isfinite(a.value + b.value)) {
            return {a.value + b.value};
        }
        return {a.value + b.value, a.magnitude + b.magnitude, a.terms + b.terms, a.errors + b.errors};
    }
    friend Estimate operator-(const Estimate& a, const Estimate& b) { return a + -b; }
    friend Estimate operator*(const Estimate& a, const Estimate& b) {
        const double largest = a.magnitude * b.magnitude;
        const double moved = a.magnitude * b.error() + b.magnitude * a.error() + a.error() * b.error();
        return rounded(a.value * b.value, largest, moved + double_rounding * largest);
    }
    friend Estimate operator/(const Estimate& a, const Estimate& b) {
        const double least = std::fabs(b.value) - b.error();
        const double quotient = a.value / b.value;
        if (b.error() != 0 && !(least > 0)) {
            return rounded(quotient, std::fabs(quotient), std::numeric_limits<double>::infinity());
        }
        // Quotients, and products with the rounded reciprocal, have at most two roundings.
        const double largest = std::max(a.magnitude / least, std::fabs(quotient));
        const double moved = (a.error() + std::fabs(quotient) * b.error()) / least;
        return rounded(quotient, largest, moved + 2 * double_rounding * largest);
    }
    Estimate& operator+=(const Estimate& b) { return *this = *this + b; }
    Estimate& operator*=(const Estimate& b) { return *this = *this * b; }

    friend bool operator<(const Estimate& a, const Estimate& b) { return a.value < b.value; }
    friend bool operator<=(const Estimate& a, const Estimate& b) { return a.value <= b.value; }
    friend bool operator>(const Estimate& a, const Estimate& b) { return a.value > b.value; }
    friend bool operator>=(const Estimate& a, const Estimate& b) { return a.value >= b.value; }
    friend bool operator==(const Estimate& a, const Estimate& b) { return a.value == b.value; }
};

/// A function of an estimate, which has that relative error itself.
template <class Function>
Estimate function_of(const Estimate& x, double relative, const Function& function) {
    const double value = function(x.value);
    double moved = 0;
    if (const double error = x.error(); error != 0) {
        const double low = function(x.value - error);
        const double high = function(x.value + error);
        moved = std::max(low == value ? 0 : std::fabs(value - low), high == value ? 0 : std::fabs(high - value));
    }
    return Estimate::rounded(value, std::fabs(value), moved + relative * std::fabs(value));
}

// The same functions of doubles.
using cpu::abs;
using cpu::atan2;
using cpu::is_infinite;
using cpu::is_nan;
using cpu::max;
using cpu::min;
using cpu::pow;
using cpu::select;

inline Estimate select(bool choice, const Estimate& a, const Estimate& b) {
    return choice ? a : b;
}
inline bool is_nan(const Estimate& x) {
    return std::isnan(x.value);
}
inline bool is_infinite(const Estimate& x) {
    return std::isinf(x.value);
}
/// Either of two numbers, whichever a function of doubles takes. If they are further apart than their errors, all
/// evaluations take the same one.
inline Estimate either(const Estimate& a, const Estimate& b, double taken) {
    if (is_nan(a) || is_nan(b)) {
        return is_nan(a) ? b : a;
    }
    if (std::fabs(a.value - b.value) > a.error() + b.error()) {
        return taken == a.value ? a : b;
    }
    return {taken, std::max(a.magnitude, b.magnitude), 1, std::max(a.error(), b.error())};
}
inline Estimate min(const Estimate& a, const Estimate& b) {
    return either(a, b, cpu::min(a.value, b.value));
}
inline Estimate max(const Estimate& a, const Estimate& b) {
    return either(a, b, cpu::max(a.value, b.value));
}
/// The value, for decisions that depend on it.
inline double as_double(double x) {
    return x;
}
inline double as_double(const Estimate& x) {
    return x.value;
}

/// The number that a FLOAT32 tensor holds.
inline double as_float(double x) {
    return double{static_cast<float>(x)};
}
inline Estimate as_float(const Estimate& x) {
    return function_of(x, 0, [](double number) { return as_float(number); });
}
inline Estimate abs(const Estimate& x) {
    return {std::fabs(x.value), x.magnitude, x.terms, x.errors};
}
inline Estimate pow(const Estimate& base, const Estimate& exponent) {
    const Estimate by_base = function_of(base, function_error, [&](double x) { return std::pow(x, exponent.value); });
    const Estimate by_exponent =
        function_of(exponent, function_error, [&](double y) { return std::pow(base.value, y); });
    return Estimate::rounded(by_base.value, by_base.magnitude, by_base.errors + by_exponent.errors);
}
inline Estimate atan2(const Estimate& y, const Estimate& x) {
    return function_of(y, function_error, [&](double of) { return std::atan2(of, x.value); });
}
/// The remainder of a division, rounded towards zero, which std::fmod computes exactly.
inline double fmod(double a, double b) {
    return std::fmod(a, b);
}
inline Estimate fmod(const Estimate& a, const Estimate& b) {
    return {std::fmod(a.value, b.value)};
}

#define DMLCONFORM_ESTIMATED(name, relative)                                              \
    using cpu::name;                                                                      \
    inline Estimate name(const Estimate& x) {                                             \
        return function_of(x, relative, [](double number) { return cpu::name(number); }); \
    }
DMLCONFORM_ESTIMATED(floor, 0)
DMLCONFORM_ESTIMATED(ceil, 0)
DMLCONFORM_ESTIMATED(trunc, 0)
DMLCONFORM_ESTIMATED(integer_in_fp32, 0)
DMLCONFORM_ESTIMATED(round_half_even, 0)
DMLCONFORM_ESTIMATED(round_half_away, 0)
DMLCONFORM_ESTIMATED(sqrt, double_rounding)
DMLCONFORM_ESTIMATED(exp, exponential_error)
DMLCONFORM_ESTIMATED(expm1, function_error)
DMLCONFORM_ESTIMATED(log, function_error)
DMLCONFORM_ESTIMATED(log1p, function_error)
DMLCONFORM_ESTIMATED(sin, function_error)
DMLCONFORM_ESTIMATED(cos, function_error)
DMLCONFORM_ESTIMATED(tan, function_error)
DMLCONFORM_ESTIMATED(asin, function_error)
DMLCONFORM_ESTIMATED(acos, function_error)
DMLCONFORM_ESTIMATED(atan, function_error)
DMLCONFORM_ESTIMATED(sinh, function_error)
DMLCONFORM_ESTIMATED(cosh, function_error)
DMLCONFORM_ESTIMATED(tanh, function_error)
DMLCONFORM_ESTIMATED(asinh, function_error)
DMLCONFORM_ESTIMATED(acosh, function_error)
DMLCONFORM_ESTIMATED(atanh, function_error)
DMLCONFORM_ESTIMATED(erf, function_error)
DMLCONFORM_ESTIMATED(erfc, function_error)
#undef DMLCONFORM_ESTIMATED

}  // namespace dmlconform::cpu::definitions

// The number types that formulas are evaluated on, and the functions for writing formulas.
//
//   double     the value, accurate enough that rounding it once gives the operator's result
//   Interval   what an FP32 implementation may return instead
//   Signed     INT8 to INT64, extended to 64 bits; arithmetic wraps
//   Unsigned   UINT8 to UINT64, or the bits of any type
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/cpu/interval.h"

namespace dmlconform::cpu {

/// 64-bit integers in two's complement. Division and remainder by zero are undefined; formulas check for them.
template <class Word>
struct Wrapping {
    Word value = 0;

    Wrapping() = default;
    template <class T>
    requires std::is_arithmetic_v<T> Wrapping(T from)
        : value(static_cast<Word>(from)) {}  // NOLINT(google-explicit-constructor): as numbers do

    [[nodiscard]] static Wrapping of(std::uint64_t bits) { return {std::bit_cast<Word>(bits)}; }
    [[nodiscard]] std::uint64_t bits() const { return static_cast<std::uint64_t>(value); }

    friend Wrapping operator-(Wrapping a) { return of(0 - a.bits()); }
    friend Wrapping operator+(Wrapping a, Wrapping b) { return of(a.bits() + b.bits()); }
    friend Wrapping operator-(Wrapping a, Wrapping b) { return of(a.bits() - b.bits()); }
    friend Wrapping operator*(Wrapping a, Wrapping b) { return of(a.bits() * b.bits()); }
    /// Rounds towards zero. The lowest number divided by -1 wraps.
    friend Wrapping operator/(Wrapping a, Wrapping b) { return b.is_minus_one() ? -a : Wrapping(a.value / b.value); }
    /// Has the sign of the dividend.
    friend Wrapping operator%(Wrapping a, Wrapping b) {
        return b.is_minus_one() ? Wrapping(0) : Wrapping(a.value % b.value);
    }
    friend Wrapping operator~(Wrapping a) { return of(~a.bits()); }
    friend Wrapping operator&(Wrapping a, Wrapping b) { return of(a.bits() & b.bits()); }
    friend Wrapping operator|(Wrapping a, Wrapping b) { return of(a.bits() | b.bits()); }
    friend Wrapping operator^(Wrapping a, Wrapping b) { return of(a.bits() ^ b.bits()); }
    friend auto operator<=>(Wrapping, Wrapping) = default;

private:
    [[nodiscard]] bool is_minus_one() const { return std::is_signed_v<Word> && value == static_cast<Word>(-1); }
};

using Signed = Wrapping<std::int64_t>;
using Unsigned = Wrapping<std::uint64_t>;

// ---- selecting ---------------------------------------------------------------------------------------------------

inline double select(bool choice, double a, double b) {
    return choice ? a : b;
}
template <class Word>
Wrapping<Word> select(bool choice, Wrapping<Word> a, Wrapping<Word> b) {
    return choice ? a : b;
}

/// Returns the other number if one is NaN, as in Direct3D; the first one if they are equal.
inline double min(double a, double b) {
    // Written as two selections, which compilers can vectorise.
    const double lesser = b < a ? b : a;
    return std::isnan(a) ? b : lesser;
}
inline double max(double a, double b) {
    const double greater = a < b ? b : a;
    return std::isnan(a) ? b : greater;
}
template <class Word>
Wrapping<Word> min(Wrapping<Word> a, Wrapping<Word> b) {
    return std::min(a, b);
}
template <class Word>
Wrapping<Word> max(Wrapping<Word> a, Wrapping<Word> b) {
    return std::max(a, b);
}

inline bool is_nan(double x) {
    return std::isnan(x);
}
inline bool is_infinite(double x) {
    return std::isinf(x);
}

// ---- functions of doubles ----------------------------------------------------------------------------------------

inline double abs(double x) {
    return std::fabs(x);
}
inline double floor(double x) {
    return std::floor(x);
}
inline double ceil(double x) {
    return std::ceil(x);
}
inline double trunc(double x) {
    return std::trunc(x);
}
inline double integer_in_fp32(double x) {
    return x;  // the reference computes with integers as they are
}
inline double round_half_even(double x) {
    return std::nearbyint(x);
}
inline double round_half_away(double x) {
    return std::round(x);
}
inline double sqrt(double x) {
    return std::sqrt(x);
}
inline double exp(double x) {
    return std::exp(x);
}
inline double expm1(double x) {
    return std::expm1(x);
}
inline double log(double x) {
    return std::log(x);
}
inline double log1p(double x) {
    return std::log1p(x);
}
inline double pow(double base, double exponent) {
    return std::pow(base, exponent);
}
inline double sin(double x) {
    return std::sin(x);
}
inline double cos(double x) {
    return std::cos(x);
}
inline double tan(double x) {
    return std::tan(x);
}
inline double asin(double x) {
    return std::asin(x);
}
inline double acos(double x) {
    return std::acos(x);
}
inline double atan(double x) {
    return std::atan(x);
}
inline double atan2(double y, double x) {
    return std::atan2(y, x);
}
inline double sinh(double x) {
    return std::sinh(x);
}
inline double cosh(double x) {
    return std::cosh(x);
}
inline double tanh(double x) {
    return std::tanh(x);
}
inline double asinh(double x) {
    return std::asinh(x);
}
inline double acosh(double x) {
    return std::acosh(x);
}
inline double atanh(double x) {
    return std::atanh(x);
}
inline double erf(double x) {
    return std::erf(x);
}
/// 1 - erf(x)
inline double erfc(double x) {
    return std::erfc(x);
}

}  // namespace dmlconform::cpu

// A number type that rounds each operation to FP32, as the simplest honest implementation does.
#pragma once

#include <cmath>

#include "engine/cpu/element_wise/numbers.h"

namespace dmlconform::cpu::definitions {

struct Rounded {
    float value = 0;

    Rounded() = default;
    Rounded(double number) : value(static_cast<float>(number)) {}  // NOLINT(google-explicit-constructor)

    friend Rounded operator-(Rounded a) { return -double{a.value}; }
    // The sum, the product and the quotient of two FP32 numbers in double, rounded to FP32, are rounded correctly.
    friend Rounded operator+(Rounded a, Rounded b) { return double{a.value} + double{b.value}; }
    friend Rounded operator-(Rounded a, Rounded b) { return double{a.value} - double{b.value}; }
    friend Rounded operator*(Rounded a, Rounded b) { return double{a.value} * double{b.value}; }
    friend Rounded operator/(Rounded a, Rounded b) { return double{a.value} / double{b.value}; }
    Rounded& operator+=(Rounded b) { return *this = *this + b; }
    friend auto operator<=>(Rounded, Rounded) = default;
};

inline Rounded select(bool choice, Rounded a, Rounded b) {
    return choice ? a : b;
}
inline bool is_nan(Rounded x) {
    return std::isnan(x.value);
}
inline bool is_infinite(Rounded x) {
    return std::isinf(x.value);
}
inline double as_double(Rounded x) {
    return double{x.value};
}
inline Rounded as_float(Rounded x) {
    return x;
}
inline Rounded min(Rounded a, Rounded b) {
    return cpu::min(double{a.value}, double{b.value});
}
inline Rounded max(Rounded a, Rounded b) {
    return cpu::max(double{a.value}, double{b.value});
}
inline Rounded pow(Rounded base, Rounded exponent) {
    return cpu::pow(double{base.value}, double{exponent.value});
}
inline Rounded atan2(Rounded y, Rounded x) {
    return cpu::atan2(double{y.value}, double{x.value});
}
inline Rounded fmod(Rounded a, Rounded b) {
    return std::fmod(double{a.value}, double{b.value});
}

#define DMLCONFORM_ROUNDED(name)           \
    inline Rounded name(Rounded x) {       \
        return cpu::name(double{x.value}); \
    }
DMLCONFORM_ROUNDED(abs)
DMLCONFORM_ROUNDED(floor)
DMLCONFORM_ROUNDED(ceil)
DMLCONFORM_ROUNDED(trunc)
DMLCONFORM_ROUNDED(integer_in_fp32)
DMLCONFORM_ROUNDED(round_half_even)
DMLCONFORM_ROUNDED(round_half_away)
DMLCONFORM_ROUNDED(sqrt)
DMLCONFORM_ROUNDED(exp)
DMLCONFORM_ROUNDED(expm1)
DMLCONFORM_ROUNDED(log)
DMLCONFORM_ROUNDED(log1p)
DMLCONFORM_ROUNDED(sin)
DMLCONFORM_ROUNDED(cos)
DMLCONFORM_ROUNDED(tan)
DMLCONFORM_ROUNDED(asin)
DMLCONFORM_ROUNDED(acos)
DMLCONFORM_ROUNDED(atan)
DMLCONFORM_ROUNDED(sinh)
DMLCONFORM_ROUNDED(cosh)
DMLCONFORM_ROUNDED(tanh)
DMLCONFORM_ROUNDED(asinh)
DMLCONFORM_ROUNDED(acosh)
DMLCONFORM_ROUNDED(atanh)
DMLCONFORM_ROUNDED(erf)
DMLCONFORM_ROUNDED(erfc)
#undef DMLCONFORM_ROUNDED

}  // namespace dmlconform::cpu::definitions

// A number type for all results that FP32 implementations of a formula may have, if they keep its order: see
// engine/cpu/interval.h.
//
// A comparison has one answer, that of the exact values. If rounding may change it, that is noted, because the range of
// what follows is then that of one branch only.
#pragma once

#include <cmath>

#include "engine/cpu/element_wise/numbers.h"

namespace dmlconform::cpu::definitions {

struct Ranged {
    Interval range = 0;

    /// True since a comparison on this thread could have had either answer.
    static inline thread_local bool may_branch = false;

    Ranged() = default;
    Ranged(double number) : range(number) {}                 // NOLINT(google-explicit-constructor)
    Ranged(const Interval& its_range) : range(its_range) {}  // NOLINT(google-explicit-constructor)

    friend Ranged operator-(const Ranged& a) { return -a.range; }
    friend Ranged operator+(const Ranged& a, const Ranged& b) { return a.range + b.range; }
    friend Ranged operator-(const Ranged& a, const Ranged& b) { return a.range - b.range; }
    friend Ranged operator*(const Ranged& a, const Ranged& b) { return a.range * b.range; }
    friend Ranged operator/(const Ranged& a, const Ranged& b) { return a.range / b.range; }
    Ranged& operator+=(const Ranged& b) { return *this = *this + b; }

    friend bool operator<(const Ranged& a, const Ranged& b) { return answer(a.range < b.range); }
    friend bool operator<=(const Ranged& a, const Ranged& b) { return answer(a.range <= b.range); }
    friend bool operator>(const Ranged& a, const Ranged& b) { return answer(a.range > b.range); }
    friend bool operator>=(const Ranged& a, const Ranged& b) { return answer(a.range >= b.range); }
    friend bool operator==(const Ranged& a, const Ranged& b) { return answer(a.range == b.range); }

    [[nodiscard]] static bool answer(const Choice& choice) {
        may_branch = may_branch || (choice.may_hold && choice.may_fail);
        return choice.holds;
    }
};

inline Ranged select(bool choice, const Ranged& a, const Ranged& b) {
    return choice ? a : b;
}
inline bool is_nan(const Ranged& x) {
    return Ranged::answer(is_nan(x.range));
}
inline bool is_infinite(const Ranged& x) {
    return Ranged::answer(is_infinite(x.range));
}
inline double as_double(const Ranged& x) {
    Ranged::may_branch = Ranged::may_branch || x.range.low != x.range.high;
    return x.range.value;
}
inline Ranged as_float(const Ranged& x) {
    return x;
}
inline Ranged min(const Ranged& a, const Ranged& b) {
    return min(a.range, b.range);
}
inline Ranged max(const Ranged& a, const Ranged& b) {
    return max(a.range, b.range);
}
inline Ranged pow(const Ranged& base, const Ranged& exponent) {
    return pow(base.range, exponent.range);
}
inline Ranged atan2(const Ranged& y, const Ranged& x) {
    return atan2(y.range, x.range);
}
inline Ranged fmod(const Ranged& a, const Ranged& b) {
    return std::fmod(as_double(a), as_double(b));
}
inline Ranged erfc(const Ranged& x) {
    return Interval(1) - erf(x.range);
}

#define DMLCONFORM_RANGED(name)                \
    inline Ranged name(const Ranged& x) {      \
        return dmlconform::cpu::name(x.range); \
    }
DMLCONFORM_RANGED(abs)
DMLCONFORM_RANGED(floor)
DMLCONFORM_RANGED(ceil)
DMLCONFORM_RANGED(trunc)
DMLCONFORM_RANGED(integer_in_fp32)
DMLCONFORM_RANGED(round_half_even)
DMLCONFORM_RANGED(round_half_away)
DMLCONFORM_RANGED(sqrt)
DMLCONFORM_RANGED(exp)
DMLCONFORM_RANGED(expm1)
DMLCONFORM_RANGED(log)
DMLCONFORM_RANGED(log1p)
DMLCONFORM_RANGED(sin)
DMLCONFORM_RANGED(cos)
DMLCONFORM_RANGED(tan)
DMLCONFORM_RANGED(asin)
DMLCONFORM_RANGED(acos)
DMLCONFORM_RANGED(atan)
DMLCONFORM_RANGED(sinh)
DMLCONFORM_RANGED(cosh)
DMLCONFORM_RANGED(tanh)
DMLCONFORM_RANGED(asinh)
DMLCONFORM_RANGED(acosh)
DMLCONFORM_RANGED(atanh)
DMLCONFORM_RANGED(erf)
#undef DMLCONFORM_RANGED

}  // namespace dmlconform::cpu::definitions

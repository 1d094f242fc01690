// Numbers in 113 bits with the largest error that FP32 may have made on the way to them, for tests of how wide ranges
// are. Nothing here is taken from engine/cpu/interval: errors are propagated by derivatives instead of by intervals.
#pragma once

#if DMLCONFORM_HAS_QUADMATH

#include <quadmath.h>

#include <algorithm>
#include <vector>

namespace dmlconform::tests {

__extension__ using Quad = __float128;

/// A rounding to nearest or towards zero, or a function that may be off by one ULP.
inline constexpr double one_rounding = 0x1p-23;

struct Rounded {
    Quad value = 0;
    Quad error = 0;

    Rounded() = default;
    Rounded(double exact) : value(exact) {}  // NOLINT(google-explicit-constructor): formulas mix both
    Rounded(Quad exact, Quad off) : value(exact), error(off) {}

    /// The result of an operation that rounds once.
    static Rounded once(Quad exact, Quad off) { return {exact, off + one_rounding * (fabsq(exact) + off)}; }
};

inline Rounded operator-(const Rounded& a) {
    return {-a.value, a.error};
}
inline Rounded operator+(const Rounded& a, const Rounded& b) {
    return Rounded::once(a.value + b.value, a.error + b.error);
}
inline Rounded operator-(const Rounded& a, const Rounded& b) {
    return a + -b;
}
inline Rounded operator*(const Rounded& a, const Rounded& b) {
    return Rounded::once(a.value * b.value, fabsq(a.value) * b.error + fabsq(b.value) * a.error + a.error * b.error);
}
inline Rounded operator/(const Rounded& a, const Rounded& b) {
    const Quad quotient = a.value / b.value;
    return Rounded::once(quotient, (a.error + fabsq(quotient) * b.error) / (fabsq(b.value) - b.error));
}
inline Rounded square_root(const Rounded& x) {
    const Quad root = sqrtq(x.value);
    return Rounded::once(root, x.error / (2 * sqrtq(x.value - x.error)));
}
/// exp2(x * log2(e)): Direct3D allows 2^-21 of the result, and the constant and the product round.
inline Rounded exponential(const Rounded& x) {
    const Quad power = expq(x.value);
    const Quad argument = x.error + 2 * one_rounding * (fabsq(x.value) + x.error);
    return {power, power * (expm1q(argument) + Quad(0x1p-21))};
}

/// A sum in any order: n - 1 roundings of partial sums, which are at most all positive or all negative terms.
inline Rounded sum_of(const std::vector<Rounded>& terms) {
    Rounded sum;
    Quad positive = 0;
    Quad negative = 0;
    for (const Rounded& term : terms) {
        sum.value += term.value;
        sum.error += term.error;
        positive += fmaxq(term.value + term.error, 0);
        negative += fmaxq(term.error - term.value, 0);
    }
    sum.error +=
        static_cast<double>(std::max<std::size_t>(terms.size(), 1) - 1) * one_rounding * fmaxq(positive, negative);
    return sum;
}

}  // namespace dmlconform::tests

#endif

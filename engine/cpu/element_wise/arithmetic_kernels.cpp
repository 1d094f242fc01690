// Arithmetic operators. What comments say of DirectML 1.15.4 was measured. Equals definitions/element_wise.cpp.
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/element_wise/machine.h"

namespace dmlconform::cpu::arithmetic_kernels {
namespace {

using namespace element_wise;

template <class T>
constexpr bool is_integer = std::is_same_v<T, Signed> || std::is_same_v<T, Unsigned>;

/// A / B. Measured on DirectML 1.15.4: division by zero gives all ones; for signed integers 1 if A is negative,
/// otherwise -1.
template <class T>
T quotient(T a, T b) {
    if constexpr (is_integer<T>) {
        return b != T(0) ? a / b : a < T(0) ? T(1) : ~T(0);
    } else {
        return a / b;
    }
}

/// A - B * trunc(A / B). Measured on DirectML 1.15.4: modulo zero gives all ones; for signed integers the dividend.
template <class T>
T remainder_truncated(T a, T b) {
    if constexpr (std::is_same_v<T, Signed>) {
        return b != T(0) ? a % b : a;
    } else if constexpr (std::is_same_v<T, Unsigned>) {
        return b != T(0) ? a % b : ~T(0);
    } else if constexpr (std::is_same_v<T, double>) {
        // std::fmod is exact, but the formula gives NaN for infinities.
        return std::isinf(b) ? std::nan("") : std::fmod(a, b);
    } else {
        const T rest = a - b * trunc(a / b);
        // By IEEE 754, the remainder of a division by infinity is the dividend.
        return is_infinite(b).may_hold && is_infinite(a).may_fail ? hull(rest, a) : rest;
    }
}

/// A - B * floor(A / B). Measured on DirectML 1.15.4: modulo zero gives the same as division.
template <class T>
T remainder_floored(T a, T b) {
    if constexpr (is_integer<T>) {
        if (b == T(0)) {
            return quotient(a, b);
        }
        const T rest = a % b;
        return rest != T(0) && (rest < T(0)) != (b < T(0)) ? rest + b : rest;
    } else if constexpr (std::is_same_v<T, double>) {
        const double rest = remainder_truncated(a, b);
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
        return a - b * floor(a / b);
    }
}

/// (A + B) / 2. Measured on DirectML 1.15.4: for integers, the sum wraps in 32 bits, and the quotient is rounded
/// towards zero.
template <class T>
T mean(T a, T b) {
    if constexpr (std::is_same_v<T, Signed>) {
        return Signed(static_cast<std::int32_t>((a + b).bits())) / Signed(2);
    } else if constexpr (std::is_same_v<T, Unsigned>) {
        return ((a + b) & Unsigned(0xffffffffu)) / Unsigned(2);
    } else if constexpr (std::is_same_v<T, Interval>) {
        // The sum may overflow although the mean does not; halving first avoids that.
        return hull((a + b) / 2, a / 2 + b / 2);
    } else {
        return (a + b) / 2;
    }
}

/// Repeated multiplication, which wraps. Measured on DirectML 1.15.4: negative exponents give the power of 1 and -1,
/// and 0 for other bases.
template <class T>
T power(T base, T exponent) {
    if constexpr (is_integer<T>) {
        if (exponent < T(0)) {
            const bool odd = (exponent & T(1)) != T(0);
            return base == T(1) || (base == T(-1) && !odd) ? T(1) : base == T(-1) ? T(-1) : T(0);
        }
        T result(1);
        for (std::uint64_t rest = exponent.bits(); rest != 0; rest /= 2) {
            result = rest % 2 != 0 ? result * base : result;
            base = base * base;
        }
        return result;
    } else {
        return pow(base, exponent);
    }
}

/// 1 - Beta^T. Measured on DirectML 1.15.4: 1 for T = 0.
template <class T>
T bias_correction(T beta, T step) {
    return select(step > T(0), 1 - pow(beta, step), T(1));
}

/// share * a + (1 - share) * b. Measured on DirectML 1.15.4: computed as a + (1 - share) * (b - a), whose roundings
/// differ.
inline double blended(double a, double b, double share) {
    return share * a + (1 - share) * b;
}
inline Interval blended(const Interval& a, const Interval& b, const Interval& share) {
    return hull(share * a + (1 - share) * b, a + (1 - share) * (b - a));
}

/// The same with b * b instead of b. Compilers multiply the three factors in any order.
inline double blended_with_square(double a, double b, double share) {
    return blended(a, b * b, share);
}
inline Interval blended_with_square(const Interval& a, const Interval& b, const Interval& share) {
    return hull(blended(a, b * b, share), share * a + (1 - share) * b * b);
}

/// x * y / z. Compilers may divide first.
inline double product_over(double x, double y, double z) {
    return x * y / z;
}
inline Interval product_over(const Interval& x, const Interval& y, const Interval& z) {
    return hull(x * y / z, x * (y / z));
}

/// A result that may be stored in the tensor's type before later steps use it. Measured on DirectML 1.15.4: it is
/// stored.
inline double stored_between(double x, bool /*half*/) {
    return x;
}
inline Interval stored_between(const Interval& x, bool half) {
    return half ? maybe_stored(core::DataType::float16, x, Store::wrapping) : x;
}

/// Attributes: LearningRate, Beta1, Beta2, Epsilon.
template <class T, class Parameters>
std::array<T, 3> adam(T x, T moment1, T moment2, T gradient, T step, const Parameters& p) {
    const T m = blended(moment1, gradient, p[1]);
    const T v = blended_with_square(moment2, gradient, p[2]);
    const T rate = p[0] * sqrt(bias_correction(p[2], step)) / bias_correction(p[1], step);
    const T root = sqrt(stored_between(v, p.output_is_half));
    return {x - product_over(rate, stored_between(m, p.output_is_half), root + p[3]), m, v};
}

}  // namespace

Kernels kernels() {
    return kernels_of({
        binary<InEights<AnyNumber>>("ELEMENT_WISE_ADD", [](const auto& a, const auto& b) { return a + b; }),
        binary<InEights<Real>>("ELEMENT_WISE_ADD1", [](const auto& a, const auto& b) { return a + b; }),
        binary<InEights<AnyNumber>>("ELEMENT_WISE_SUBTRACT", [](const auto& a, const auto& b) { return a - b; }),
        binary<InEights<AnyNumber>>("ELEMENT_WISE_MULTIPLY", [](const auto& a, const auto& b) { return a * b; }),
        binary<AnyNumber>("ELEMENT_WISE_DIVIDE", [](auto a, auto b) { return quotient(a, b); }),
        binary<AnyNumber>("ELEMENT_WISE_MODULUS_TRUNCATE", [](auto a, auto b) { return remainder_truncated(a, b); }),
        binary<AnyNumber>("ELEMENT_WISE_MODULUS_FLOOR", [](auto a, auto b) { return remainder_floored(a, b); }),
        binary<AnyNumber>("ELEMENT_WISE_MEAN", [](auto a, auto b) { return mean(a, b); }),
        binary<AnyNumber>("ELEMENT_WISE_DIFFERENCE_SQUARE", [](auto a, auto b) { return (a - b) * (a - b); }),
        binary<AnyNumber>("ELEMENT_WISE_POW", [](auto a, auto b) { return power(a, b); }).stored(Store::clamping),
        unary<Real>("ELEMENT_WISE_CONSTANT_POW", [](auto x, auto& p) { return pow(x, p[0]); }),
        unary<AnyNumber>("ELEMENT_WISE_NEGATE", [](auto x) { return -x; }).stored(Store::clamping),
        unary<AnyNumber>("ELEMENT_WISE_ABS",
                         [](auto x) {
                             if constexpr (is_integer<decltype(x)>) {
                                 return x < decltype(x)(0) ? -x : x;
                             } else {
                                 return abs(x);
                             }
                         })
            .stored(Store::clamping),
        unary<Real>("ELEMENT_WISE_RECIP", [](auto x) { return 1 / x; }),
        binary<Real>("VALUE_SCALE_2D", [](auto x, auto bias, auto& p) { return p[0] * x + bias; }),
        formula<Real, 5, 3>("ADAM_OPTIMIZER", [](auto x, auto moment1, auto moment2, auto gradient, auto step,
                                                 auto& p) { return adam(x, moment1, moment2, gradient, step, p); })
            .taking(Operands::as_real),
    });
}

}  // namespace dmlconform::cpu::arithmetic_kernels

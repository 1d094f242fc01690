// Activation functions, by the formulas of DML_ACTIVATION_*_OPERATOR_DESC. Where a formula leaves results open, mostly
// for NaN, comments say what DirectML 1.15.4 was measured to do. Equals definitions/element_wise.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/floating_format.h"
#include "engine/cpu/element_wise/machine.h"
#include "engine/cpu/expected_error.h"

namespace dmlconform::cpu::activation_kernels {
namespace {

using namespace element_wise;

/// The argument of a branch that only applies to numbers from the limit on, or up to the limit.
template <class T>
T at_least(T x, T /*limit*/) {
    return x;
}
/// A comparison with 0 may flush a subnormal number, and then select it as it is.
inline Interval at_least(const Interval& x, const Interval& limit) {
    return {std::max(x.low, limit.low == 0 ? -core::float32.smallest_normal : limit.low), x.high, x.nan,
            std::max(x.value, limit.value), x.variance};
}
template <class T>
T at_most(T x, T limit) {
    return -at_least(-x, -limit);
}

/// The same, excluding the limit itself, which is an FP32 number, or NaN, which excludes nothing.
template <class T>
T above(T x, T /*limit*/) {
    return x;
}
inline Interval above(const Interval& x, const Interval& limit) {
    if (!limit.has_numbers()) {
        return x;
    }
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const double least{std::nextafter(static_cast<float>(limit.low), infinity)};
    return {std::max(x.low, least), x.high, x.nan, std::max(x.value, least), x.variance};
}
template <class T>
T below(T x, T limit) {
    return -above(-x, -limit);
}

/// x if it is not negative, otherwise a function of x.
template <class T, class F>
T positive_or(T x, F&& of_negative) {
    return select(x >= T(0), at_least(x, T(0)), of_negative(at_most(x, T(0))));
}

template <class T>
T sigmoid(T x) {
    return 1 / (1 + exp(-x));
}

/// ln(1 + exp(x)), in a form that does not overflow.
inline double softplus(double x) {
    return max(x, 0.0) + log1p(exp(-abs(x)));
}
/// Implementations may also use the documented formula, where that does not overflow.
inline Interval softplus(const Interval& x) {
    const Interval safe = through_base_2(max(x, 0)) + log1p(exp(-abs(x)));
    const Interval plain = log1p(exp(x));
    return std::isinf(plain.high) ? safe : hull(safe, plain);
}

/// x * Alpha + Beta, clamped to 0 … 1. Measured on DirectML 1.15.4: NaN gives 0.
template <class T>
T ramp(T x, T alpha, T beta) {
    return min(max(alpha * x + beta, T(0)), T(1));
}

/// The cumulative normal distribution: (1 + erf(x / sqrt(2))) / 2.
inline double normal_share(double x) {
    return 0.5 * erfc(-x / std::numbers::sqrt2);
}
inline Interval normal_share(const Interval& x) {
    return 0.5 * (1 + erf(x / std::numbers::sqrt2));
}

template <class T>
T celu(T x, T alpha) {
    return max(T(0), x) + min(T(0), alpha * expm1(x / alpha));
}

/// Unlike ELU, its formula multiplies the other branch by zero, where exp may be inexact.
template <class T>
T scaled_elu(T x, T alpha, T gamma) {
    return gamma * select(x > T(0), at_least(x, T(0)), alpha * expm1(at_most(x, T(0))));
}

template <class T>
T shrink(T x, T bias, T threshold) {
    return select(x > threshold, above(x, threshold) - bias, select(x < -threshold, below(x, -threshold) + bias, T(0)));
}

}  // namespace

Kernels kernels() {
    return kernels_of({
        unary<Real>("ACTIVATION_IDENTITY", [](auto x) { return x; }),
        unary<Real>("ACTIVATION_LINEAR", [](auto x, auto& p) { return p[0] * x + p[1]; }),
        unary<InEights<AnyNumber>>("ACTIVATION_RELU", []<class T>(const T& x) { return max(x, T(0)); }),
        unary<Real>("ACTIVATION_LEAKY_RELU",
                    [](auto x, auto& p) { return positive_or(x, [&](auto y) { return p[0] * y; }); }),
        binary<AnyNumber>("ACTIVATION_PARAMETERIZED_RELU",
                          [](auto x, auto slope) { return positive_or(x, [&](auto y) { return slope * y; }); }),
        binary<AnyNumber>("ACTIVATION_RELU_GRAD",
                          [](auto x, auto gradient) { return select(x > decltype(x)(0), gradient, decltype(x)(0)); }),
        unary<Real>("ACTIVATION_THRESHOLDED_RELU",
                    [](auto x, auto& p) { return select(x <= p[0], decltype(x)(0), above(x, p[0])); }),
        unary<Real>("ACTIVATION_ELU",
                    [](auto x, auto& p) { return positive_or(x, [&](auto y) { return p[0] * expm1(y); }); }),
        unary<Real>("ACTIVATION_CELU", [](auto x, auto& p) { return celu(x, p[0]); }),
        unary<Real>("ACTIVATION_SCALED_ELU", [](auto x, auto& p) { return scaled_elu(x, p[0], p[1]); }),
        unary<Real>("ACTIVATION_HARD_SIGMOID", [](auto x, auto& p) { return ramp(x, p[0], p[1]); }),
        unary<Real>("ACTIVATION_HARD_SWISH", [](auto x, auto& p) { return x * ramp(x, p[0], p[1]); }),
        unary<Real>("ACTIVATION_SIGMOID", [](auto x) { return sigmoid(x); }),
        unary<Real>("ACTIVATION_SWISH", [](auto x, auto& p) { return x * sigmoid(p[0] * x); }),
        unary<Real>("ACTIVATION_TANH", [](auto x) { return tanh(x); }),
        unary<Real>("ACTIVATION_SCALED_TANH", [](auto x, auto& p) { return p[0] * tanh(p[1] * x); }),
        unary<Real>("ACTIVATION_SOFTPLUS", [](auto x, auto& p) { return softplus(p[0] * x) / p[0]; }),
        unary<Real>("ACTIVATION_PARAMETRIC_SOFTPLUS", [](auto x, auto& p) { return p[0] * softplus(p[1] * x); }),
        unary<Real>("ACTIVATION_SOFTSIGN", [](auto x) { return x / (1 + abs(x)); }),
        unary<Real>("ACTIVATION_GELU", [](auto x) { return x * normal_share(x); }),
        unary<Real>("ACTIVATION_SHRINK", [](auto x, auto& p) { return shrink(x, p[0], p[1]); })
            .taking(Operands::as_real)
            .stored(Store::rounding),
    });
}

}  // namespace dmlconform::cpu::activation_kernels

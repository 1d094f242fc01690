// The activation functions of DirectML, and the softmax, which also follow products as a fused activation.
//
// Each is documented at
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_NAME_operator_desc, where NAME is the
// operator's short name in lower case: activation_relu.
#pragma once

#include <numbers>

#include "engine/cpu/definitions/call.h"

namespace dmlconform::cpu::definitions {

/// x if it is not negative, otherwise another number.
template <class Number>
Number positive_or(const Number& x, const Number& of_negative) {
    return select(x >= Number(0), x, of_negative);
}

template <class Real>
Real sigmoid(const Real& x) {
    return Real(1) / (Real(1) + exp(-x));
}
/// It is between 0 and 1 however large the error of x is, which the estimate of a quotient would not know.
inline Estimate sigmoid(const Estimate& x) {
    return function_of(x, exponential_error + 2 * double_rounding, [](double number) { return sigmoid(number); });
}

/// ln(1 + exp(x)), which overflows for large x unless it is written like this.
template <class Real>
Real softplus(const Real& x) {
    return max(x, Real(0)) + log1p(exp(-abs(x)));
}

/// max(0, min(1, Alpha * x + Beta)); 0 for NaN, as measured on DirectML 1.15.4.
template <class Real>
Real ramp(const Real& x, const Real& alpha, const Real& beta) {
    return min(max(alpha * x + beta, Real(0)), Real(1));
}

template <class Number>
Number shrunk(const Number& x, const Number& bias, const Number& threshold) {
    return select(x > threshold, x - bias, select(x < -threshold, x + bias, Number(0)));
}

/// The name without ACTIVATION_ or ELEMENT_WISE_.
inline std::string_view without_prefix(std::string_view short_name) {
    const std::string_view prefix = short_name.starts_with("ACTIVATION_") ? "ACTIVATION_" : "ELEMENT_WISE_";
    return short_name.substr(prefix.size());
}

/// The activation functions of one number, and CLIP, which can be fused, too.
template <class Real>
Real activation(std::string_view name, const Descriptor& descriptor, const Real& x) {
    const auto p = [&](std::string_view field) { return Real(double{descriptor.number(field)}); };
    // clang-format off
    if (name == "IDENTITY")         { return x; }
    if (name == "LINEAR")           { return p("Alpha") * x + p("Beta"); }
    if (name == "RELU")             { return max(x, Real(0)); }
    if (name == "LEAKY_RELU")       { return positive_or(x, p("Alpha") * x); }
    if (name == "THRESHOLDED_RELU") { return select(x <= p("Alpha"), Real(0), x); }
    if (name == "ELU")              { return positive_or(x, p("Alpha") * expm1(x)); }
    if (name == "CELU")             { return max(Real(0), x) + min(Real(0), p("Alpha") * expm1(x / p("Alpha"))); }
    if (name == "SCALED_ELU")       { return p("Gamma") * select(x > Real(0), x, p("Alpha") * expm1(x)); }
    if (name == "HARD_SIGMOID")     { return ramp(x, p("Alpha"), p("Beta")); }
    if (name == "HARD_SWISH")       { return x * ramp(x, p("Alpha"), p("Beta")); }
    if (name == "SIGMOID")          { return sigmoid(x); }
    if (name == "SWISH")            { return x * sigmoid(p("SigmoidInputScale") * x); }
    if (name == "TANH")             { return tanh(x); }
    if (name == "SCALED_TANH")      { return p("Alpha") * tanh(p("Beta") * x); }
    if (name == "SOFTPLUS")         { return softplus(p("Steepness") * x) / p("Steepness"); }
    if (name == "PARAMETRIC_SOFTPLUS") { return p("Alpha") * softplus(p("Beta") * x); }
    if (name == "SOFTSIGN")         { return x / (Real(1) + abs(x)); }
    if (name == "GELU")             { return Real(0.5) * x * erfc(-x / Real(std::numbers::sqrt2)); }
    if (name == "CLIP")             { return max(p("Min"), min(x, p("Max"))); }
    if (name == "SHRINK")           { return shrunk(x, p("Bias"), p("Threshold")); }
    // clang-format on
    throw std::logic_error("no activation function: " + std::string(name));
}

/// The number of the axes' dimensions, or of the last one without the field Axes.
inline Index axes_or_last(const Descriptor& descriptor, std::size_t rank) {
    return !descriptor.has_field("Axes") ? Index{static_cast<std::int64_t>(rank) - 1} : Index(descriptor.uints("Axes"));
}

/// The coordinate 0 along the axes, the given ones elsewhere.
inline Index without(Index at, const Index& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        at[static_cast<std::size_t>(axes[i])] = 0;
    }
    return at;
}

/// The sizes of an array that has a single element along the axes.
inline Index reduced_sizes(Index sizes, const Index& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        sizes[static_cast<std::size_t>(axes[i])] = 1;
    }
    return sizes;
}

/// The largest number along the axes. A number is larger than NaN.
template <class Real>
Array<Real> maxima(const Array<Real>& x, const Index& axes) {
    Array<Real> largest(reduced_sizes(x.sizes, axes));
    std::ranges::fill(largest.elements, Real(-std::numeric_limits<double>::infinity()));
    for_each_index(x.sizes, [&](const Index& at) {
        Real& one = largest[without(at, axes)];
        one = select(x[at] > one, x[at], one);
    });
    return largest;
}

/// exp(x) / sum of exp(x). The maximum is subtracted, so that nothing overflows.
template <class Real>
Array<Real> softmax(const Array<Real>& x, const Index& axes) {
    const Array<Real> maximum = maxima(x, axes);
    Array<Real> sum(maximum.sizes);
    Array<Real> y(x.sizes);
    for_each_index(x.sizes,
                   [&](const Index& at) { sum[without(at, axes)] += exp(x[at] - maximum[without(at, axes)]); });
    for_each_index(x.sizes,
                   [&](const Index& at) { y[at] = exp(x[at] - maximum[without(at, axes)]) / sum[without(at, axes)]; });
    return y;
}

/// Applies the activation in the field FusedActivation, if there is one. NaN stays NaN.
template <class Real>
void fuse_activation(const Descriptor& descriptor, Array<Real>& array) {
    const Descriptor* const fused = descriptor.activation("FusedActivation");
    if (fused == nullptr) {
        return;
    }
    const std::string_view name = without_prefix(fused->schema->short_name());
    if (name.starts_with("SOFTMAX")) {
        array = softmax(array, axes_or_last(*fused, array.sizes.size()));
        return;
    }
    for (Real& element : array.elements) {
        element = is_nan(element) ? element : activation(name, *fused, element);
    }
}

}  // namespace dmlconform::cpu::definitions

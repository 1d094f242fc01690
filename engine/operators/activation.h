// The activation functions that can be fused into an operator: values, and how far an FP32 evaluation may be off.
#pragma once

#include <cstdint>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// The values are those of FUSED_* in shaders/activation.hlsli.
enum class ActivationFunction : std::uint32_t {
    identity = 0,
    celu = 1,
    elu = 2,
    gelu = 3,
    hard_sigmoid = 4,
    hard_swish = 5,
    leaky_relu = 6,
    linear = 7,
    parametric_softplus = 8,
    relu = 9,
    scaled_elu = 10,
    scaled_tanh = 11,
    shrink = 12,
    sigmoid = 13,
    softplus = 14,
    softsign = 15,
    swish = 16,
    tanh = 17,
    thresholded_relu = 18,
};

/// An interval of values.
struct Interval {
    double low = 0;
    double high = 0;
};

/// A function with its parameters. Parameters are FP32 values, as in the C struct.
struct Activation {
    ActivationFunction function = ActivationFunction::identity;
    /// In the order of the operator's struct; unused ones are 0.
    double first = 0;
    double second = 0;

    /// `descriptor` may be null: identity. It must be a fusable activation.
    [[nodiscard]] static Activation from(const Descriptor* descriptor);

    /// The function's value, accurate to about one ULP of a double.
    [[nodiscard]] double operator()(double x) const;

    /// What a correct FP32 implementation may return for an argument that it knows only to lie within `slack` of x: the
    /// function's range there, widened by the rounding of the evaluation itself as D3D's rules allow it.
    [[nodiscard]] Interval accepted(double x, double slack) const;

private:
    [[nodiscard]] double evaluation_error(double x) const;
};

}  // namespace dmlconform::operators

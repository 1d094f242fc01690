// One element of a normalisation: its value, and how far off it may be.
#pragma once

#include <span>

#include "engine/core/tolerance.h"
#include "engine/cpu/element_wise/machine.h"

namespace dmlconform::cpu {

/// One element as the reference computed it, in double.
struct NormalizedElement {
    /// Input - Mean.
    double centred = 0;
    /// Mean of |Input| over the axes.
    double mean_magnitude = 0;
    /// 1 / sqrt(Variance + Epsilon), or 1 without NormalizeVariance.
    double rstd = 1;
    double scale = 1;
    double bias = 0;
};

/// The value before activation.
[[nodiscard]] double normalized(const NormalizedElement& element);

/// The same of several elements, which differ in nothing but their distances to the mean: values become that.
void normalize(std::span<double> values, double mean, NormalizedElement shared);

/// The same of FP32 numbers: to[i] of from[i], where scale and bias are those of `shared`, or if they are not null,
/// each number has its own.
void normalize(std::span<const float> from, double mean, const NormalizedElement& shared, const float* scale,
               const float* bias, float* to);

/// What an implementation may return for the element: the operator's default tolerance.
[[nodiscard]] Interval accepted_range(const NormalizedElement& element, const element_wise::FusedActivation& activation,
                                      core::DataType type);

/// The tolerance that accepted_range makes.
[[nodiscard]] core::Tolerance normalization_tolerance();

}  // namespace dmlconform::cpu

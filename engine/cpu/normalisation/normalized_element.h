// One element of a normalisation: its value and its error bounds.
#pragma once

#include <span>

#include "engine/core/tolerance.h"
#include "engine/cpu/element_wise/fused_activation.h"
#include "engine/cpu/normalisation/normalisation_range.h"
#include "engine/cpu/normalisation/statistics_range.h"

namespace dmlconform::cpu {

/// An element and its statistics, in double precision.
struct NormalizedElement {
    /// Input - Mean.
    double centred = 0;
    /// 1 / sqrt(Variance + Epsilon), or 1 without NormalizeVariance.
    double rstd = 1;
    double scale = 1;
    double bias = 0;
    /// The mean of the input, or 0 if it is not subtracted.
    double mean = 0;
    /// Expected errors of the simplest implementation: the variance of the mean's error, and the relative variance of
    /// rstd's error.
    double mean_variance = 0;
    double relative_rstd_variance = 0;
};

/// The variance of the error of a mean of `count` numbers; `squares` is the sum of their squares.
[[nodiscard]] double variance_of_mean(double count, double squares, double mean);

/// The relative variance of the error of 1 / sqrt(variance + epsilon). The variance is a mean of squares about an
/// inexact mean; `fourth_powers` is the sum of the differences' fourth powers.
[[nodiscard]] double relative_variance_of_rstd(double count, double fourth_powers, double variance, double epsilon,
                                               double mean_variance);

/// The value before the activation.
[[nodiscard]] double normalized(const NormalizedElement& element);

/// The same for several elements, which differ only in their distances from the mean. Replaces `values` by the results.
void normalize(std::span<double> values, double mean, NormalizedElement shared);

/// The same for FP32 numbers: computes to[i] from from[i]. Scale and bias are those of `shared`, unless the pointers
/// are not null: then each element has its own.
void normalize(std::span<const float> from, double mean, const NormalizedElement& shared, const float* scale,
               const float* bias, float* to);

/// What implementations may compute of a group before they normalise its elements.
struct StatisticsRange {
    /// 0 if it is not subtracted.
    Interval mean;
    /// 1 without NormalizeVariance.
    Interval rstd = 1;
};

/// The attributes that decide how a group's statistics are computed.
struct StatisticsAttributes {
    core::DataType type = core::DataType::float32;
    /// The number of dimensions that a group extends along.
    std::size_t dimensions = 1;
    bool subtract_mean = true;
    bool normalize_variance = true;
    double epsilon = 0;
    /// True if the variance must be stored as FLOAT16, whatever is left of it.
    bool stores = false;
};

/// For a group whose exact mean, or 0 if it is not subtracted, is `mean`. The numbers are summed in FP32, in any order.
///
/// Implementations on FLOAT16 may store the statistics as FLOAT16, as DirectML 1.15.4 does. A variance that is too
/// large for a normal FLOAT16 number, or too small, must not be stored: what is left of it says nothing.
[[nodiscard]] StatisticsRange statistics_range(std::span<const double> numbers, double mean,
                                               const StatisticsAttributes& attributes);

/// The numbers that an implementation may return for the element with the value x. This is the operator's default
/// tolerance.
[[nodiscard]] Interval accepted_range(double x, const NormalizedElement& element, const StatisticsRange& statistics,
                                      const element_wise::FusedActivation& activation, core::DataType type);

/// The same by a range that elements with one scale and one bias share.
[[nodiscard]] Interval accepted_range(double x, const NormalizedElement& element,
                                      const normalisation::NormalisationRange& normalise,
                                      const element_wise::FusedActivation& activation, core::DataType type);

/// The tolerance that accepted_range makes.
[[nodiscard]] core::Tolerance normalization_tolerance();

}  // namespace dmlconform::cpu

// What FP32 implementations may compute of a normalisation group: ranges of sums, means, variances and normalised
// elements, whatever the order of the operations.
#pragma once

#include <cstddef>
#include <span>

#include "engine/core/data_type.h"
#include "engine/cpu/interval.h"
#include "engine/cpu/reduction/totals.h"

namespace dmlconform::cpu::normalisation {

/// Implementations divide, or multiply by the reciprocal.
[[nodiscard]] Interval divided(const Interval& sum, std::size_t count);

/// The product of three factors in any order.
[[nodiscard]] Interval product(const Interval& a, const Interval& b, const Interval& c);

/// 1 / sqrt(variance + epsilon)
[[nodiscard]] Interval reciprocal_root(const Interval& variance, double epsilon);

/// The range of a sum and of a mean that are computed one dimension after the other. Measured on DirectML 1.15.4: they
/// are.
class PassesRange {
public:
    /// `passes`: the number of passes, one for each dimension along which terms are summed, or more.
    PassesRange(core::DataType type, std::size_t passes) : type_(type), passes_(passes) {}

    void add(const Interval& term);
    /// The results of all passes except the last may be stored as tensors. FLOAT16 is rounded towards zero, or like
    /// subnormal numbers.
    [[nodiscard]] Interval sum() const;
    /// Each pass may divide, so a sum may consist of rounded quotients.
    [[nodiscard]] Interval mean() const;

private:
    core::DataType type_;
    std::size_t passes_;
    reduction::SumRange sum_;
    double magnitude_ = 0;
    std::size_t count_ = 0;
};

/// The mean of the numbers. `none` has no terms yet.
[[nodiscard]] Interval mean_range(std::span<const double> numbers, PassesRange none);

/// The mean of the squared distances from a mean that is computed first, and that `mean` is exactly. Relative to a mean
/// with an error of d, the variance is larger by d * d. `none` has no terms yet.
[[nodiscard]] Interval variance_range(std::span<const double> numbers, double mean, const Interval& mean_range,
                                      PassesRange none);

}  // namespace dmlconform::cpu::normalisation

// The range of results that FP32 implementations may compute for scaled sums with an addend: with any order of terms,
// with the factor applied to terms or to sums, with or without fused multiply-add. Also for FLOAT16 implementations,
// where these are allowed.
#pragma once

#include <optional>
#include <span>

#include "engine/cpu/accumulation.h"
#include "engine/cpu/product/factors.h"

namespace dmlconform::cpu::product {

/// factor * (sum of terms) + weight * addend
struct ScaledSum {
    double factor = 1;
    double weight = 1;
    /// Empty if there is no addend.
    std::optional<double> addend = {};

    [[nodiscard]] double value(double sum) const;
    /// The same for several sums.
    void values(const double* sums, std::span<double> to) const;
};

/// Computes the ranges of the sums of a product.
class SumRanges {
public:
    /// `error` is the relative error of both factors together before the multiplication. Sums may be stored as `type`
    /// before anything is added.
    explicit SumRanges(const Factors& factors, double error = 0, core::DataType type = core::DataType::float32,
                       Accumulation accumulation = Accumulation::fp32);

    /// The range of one sum, from the data that `multiply` computes.
    [[nodiscard]] Interval range(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;

    /// The range from each term of the sum, for sums with infinite, NaN or overflowing terms.
    [[nodiscard]] Interval range_of_terms(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;

private:
    /// The range from the sum of the bounds; empty if that is not sufficient.
    [[nodiscard]] std::optional<Interval> quick_range(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;
    // The simplest implementation, which adds term by term: the sum of its squared partial sums, and the variances of
    // the sum and of the final result.
    [[nodiscard]] double partial_squares(const Sums& sums, std::int64_t i) const;
    [[nodiscard]] double variance_of_terms(const Sums& sums, std::int64_t i) const;
    [[nodiscard]] double variance(const Sums& sums, std::int64_t i) const;
    [[nodiscard]] double variance_of_scaled(const Sums& sums, std::int64_t i, const ScaledSum& scaled,
                                            double unit) const;
    /// The range that FLOAT16 implementations may compute.
    [[nodiscard]] Interval range_in_float16(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;
    [[nodiscard]] Interval range_in_fp32(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;
    /// The maximum relative error after this number of roundings.
    [[nodiscard]] double error_after(std::int64_t roundings) const;
    /// True if sums of multiples of 2^exponent are exact up to this magnitude.
    [[nodiscard]] bool is_exact(int exponent, double magnitude) const;

    const Factors& factors_;
    double error_;
    core::DataType type_;
    /// All products are multiples of 2 to this power.
    int exponent_;
    /// True if terms are exact before they are added.
    bool may_be_exact_;
    /// The maximum loss for each term if subnormal numbers are flushed to zero.
    double flush_;
    double error_of_all_ = 0;
    double error_of_all_and_addend_ = 0;
    Accumulation accumulation_;
    /// The same if FLOAT16 subnormals are flushed.
    double flush_in_float16_;
};

/// The sum of a product whose computed value is NaN only because a non-finite left number was multiplied by a missing
/// right one.
[[nodiscard]] double sum_of_terms(const Factors& factors, const Sums& sums, std::int64_t i);

}  // namespace dmlconform::cpu::product

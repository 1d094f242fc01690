// The range of results that FP32 implementations may compute for scaled sums with an addend: with any order of terms,
// with the factor applied to terms or to sums, with or without fused multiply-add. Also for FLOAT16 implementations,
// where these are allowed.
#pragma once

#include <optional>
#include <span>
#include <vector>

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

/// The numbers that the ranges of a row of sums follow from. They belong to the SumRanges. See SumRanges::quick_range,
/// which computes one of them.
struct RowOfSums {
    const double* values = nullptr;
    const double* bounds = nullptr;
    const double* partial_squares = nullptr;
    /// For each sum, its number of terms, and the relative errors of a sum without and with an addend.
    const double* terms = nullptr;
    const double* errors = nullptr;
    const double* errors_with_addend = nullptr;
    double depth = 1;
    /// The loss of each term.
    double flush = 0;
    /// Sums without and with the addend are exact up to these bounds.
    double largest_exact = -1;
    double largest_exact_with_addend = -1;
    /// Empty if there is no addend.
    std::optional<double> addend = {};
    Interval range_of_addend = {};
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

    /// What the ranges of a row of sums follow from. Empty unless they can be computed eight at a time: in FP32, with
    /// factors that are exact, a factor of 1, and one addend.
    [[nodiscard]] std::optional<RowOfSums> row_of(const Sums& sums, const ScaledSum& scaled) const;

private:
    /// The magnitude up to which sums of multiples of 2^exponent are exact; negative if there is none.
    [[nodiscard]] double largest_exact(int exponent) const;
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
    /// For each column, what RowOfSums has. Empty if there will be none.
    std::vector<double> terms_;
    std::vector<double> errors_;
    std::vector<double> errors_with_addend_;
    /// The same if FLOAT16 subnormals are flushed.
    double flush_in_float16_;
};

/// The sum of a product whose computed value is NaN only because a non-finite left number was multiplied by a missing
/// right one.
[[nodiscard]] double sum_of_terms(const Factors& factors, const Sums& sums, std::int64_t i);

}  // namespace dmlconform::cpu::product

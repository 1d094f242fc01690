// What implementations in FP32 may have for the sums of a product, scaled and with an addend: in any order of the
// terms, with the factor on the terms or on their sum, with or without fused multiplication and addition. The same of
// implementations in FLOAT16, where they are allowed.
#pragma once

#include <optional>
#include <span>

#include "engine/cpu/accumulation.h"
#include "engine/cpu/product/factors.h"

namespace dmlconform::cpu::product {

/// factor * (sum of terms) + weight * addend.
struct ScaledSum {
    double factor = 1;
    double weight = 1;
    /// Nothing: there is none.
    std::optional<double> addend = {};

    [[nodiscard]] double value(double sum) const;
    /// Of several sums.
    void values(const double* sums, std::span<double> to) const;
};

/// Bounds of a product's sums.
class SumRanges {
public:
    /// `error` is how far factors may be off before they are multiplied, both together, relative to their bounds. Sums
    /// may be stored as `type` before anything is added to them.
    explicit SumRanges(const Factors& factors, double error = 0, core::DataType type = core::DataType::float32,
                       Accumulation accumulation = Accumulation::fp32);

    /// Of one sum, from what `multiply` computed of it.
    [[nodiscard]] Interval range(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;

    /// The same from each of its terms, one by one. For sums whose terms are not ordinary numbers.
    [[nodiscard]] Interval range_of_terms(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;

private:
    /// From the sum of the bounds; nothing where that does not tell.
    [[nodiscard]] std::optional<Interval> quick_range(double value, double bound, std::int64_t terms,
                                                      const ScaledSum& scaled) const;
    /// What FLOAT16 may have for it.
    [[nodiscard]] Interval range_in_float16(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;
    [[nodiscard]] Interval range_in_fp32(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const;
    /// Whether numbers that are multiples of 2 to this power add up to such a magnitude at most without a rounding.
    [[nodiscard]] bool is_exact(int exponent, double magnitude) const;

    const Factors& factors_;
    double error_;
    core::DataType type_;
    /// All products are multiples of 2 to this power.
    int exponent_;
    /// Whether nothing is rounded, nor becomes zero, before terms are added.
    bool may_be_exact_;
    /// What is lost at most if subnormal numbers become zero, for each term.
    double flush_;
    Accumulation accumulation_;
    /// The same if those that are subnormal in FLOAT16 do.
    double flush_in_float16_;
};

/// The sum of a product, where the computed one is NaN only because the left side is not finite where the right side
/// has no element.
[[nodiscard]] double sum_of_terms(const Factors& factors, const Sums& sums, std::int64_t i);

}  // namespace dmlconform::cpu::product

// Roundings of sums of products, counted.
#include "engine/cpu/product/sum_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

constexpr double largest = std::numeric_limits<float>::max();
constexpr double smallest_normal = std::numeric_limits<float>::min();
constexpr double one_rounding = 0x1p-23;
constexpr int digits_of_fp32 = 24;
constexpr int no_digits = 4096;

constexpr double largest_of_float16 = 65504;
constexpr double smallest_normal_of_float16 = 0x1p-14;
/// To nearest or towards zero, as in FP32.
constexpr double one_rounding_in_float16 = 0x1p-10;
/// Of the product, of Alpha or Beta, by which it is multiplied, and of the addition of Beta * C.
constexpr std::int64_t roundings_beside_the_sum = 4;

/// The power of two that a number is an odd multiple of.
int last_digit(double number) {
    return number == 0 || !std::isfinite(number) ? no_digits : reduction::digits_of(number).exponent;
}

/// What is known of all numbers of one side.
struct Character {
    int last_digit = no_digits;
    /// Of the finite ones.
    double largest = 0;
    bool has_subnormal = false;
    bool has_subnormal_in_float16 = false;
};

Character character_of(const Numbers& numbers) {
    Character character;
    for (const double number : numbers.values) {
        const double magnitude = std::fabs(number);
        character.last_digit = std::min(character.last_digit, last_digit(number));
        character.largest = std::isfinite(number) ? std::max(character.largest, magnitude) : character.largest;
        character.has_subnormal = character.has_subnormal || (magnitude != 0 && magnitude < smallest_normal);
        character.has_subnormal_in_float16 =
            character.has_subnormal_in_float16 || (magnitude != 0 && magnitude < smallest_normal_of_float16);
    }
    return character;
}

/// A number and what may be off.
Interval around(double value, double error) {
    return Interval(value - error, value + error, false) + Interval(0);
}

}  // namespace

double ScaledSum::value(double sum) const {
    const double added = addend ? weight * *addend : 0;
    return factor * sum + added;
}

void ScaledSum::values(const double* sums, std::span<double> to) const {
    in_wide_registers([&] {
        for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] = value(sums[i]);
        }
    });
}

SumRanges::SumRanges(const Factors& factors, double error, core::DataType type, Accumulation accumulation)
    : factors_(factors), error_(error), type_(type), accumulation_(accumulation) {
    const Character left = character_of(factors.left());
    const Character right = character_of(factors.right());
    exponent_ = left.last_digit + right.last_digit;
    may_be_exact_ = error == 0 && !left.has_subnormal && !right.has_subnormal;
    flush_ =
        smallest_normal * (2 + (left.has_subnormal ? right.largest : 0) + (right.has_subnormal ? left.largest : 0));
    flush_in_float16_ = smallest_normal_of_float16 * (2 + (left.has_subnormal_in_float16 ? right.largest : 0) +
                                                      (right.has_subnormal_in_float16 ? left.largest : 0));
}

/// None of the numbers on the way is subnormal then.
bool SumRanges::is_exact(int exponent, double magnitude) const {
    return may_be_exact_ && exponent >= -126 && magnitude <= std::ldexp(1.0, std::min(exponent + digits_of_fp32, 1023));
}

std::optional<Interval> SumRanges::quick_range(double value, double bound, std::int64_t terms,
                                               const ScaledSum& scaled) const {
    const double addend = scaled.addend ? scaled.weight * *scaled.addend : 0;
    const double total = scaled.value(value);
    const double total_bound = std::fabs(scaled.factor) * bound + std::fabs(addend);
    // Also false for NaN.
    if (!(bound < largest / 2 && total_bound < largest / 2)) {
        return std::nullopt;
    }
    const double flush = flush_ * static_cast<double>(terms);
    // Partial sums are no larger than the sum of all positive terms, or that of all negative ones.
    const double sum_error = is_exact(exponent_, bound)
                                 ? 0
                                 : reduction::error_after(terms - 1) * (bound + std::fabs(value)) / 2 +
                                       (error_ + one_rounding) * bound + flush;
    const Interval sum = normalisation::maybe_stored(type_, around(value, sum_error));
    const bool plain = scaled.factor == 1;
    const Interval factored = plain ? sum : Interval(scaled.factor) * sum;
    if (plain && !scaled.addend) {
        return factored;
    }
    const Interval at_the_end =
        scaled.addend ? factored + Interval(scaled.weight) * Interval(*scaled.addend) : factored;
    const int exponent = std::min(exponent_ + last_digit(scaled.factor), last_digit(addend));
    const double error = is_exact(exponent, total_bound)
                             ? 0
                             : reduction::error_after(terms) * (total_bound + std::fabs(total)) / 2 +
                                   (error_ + 2 * one_rounding) * total_bound +
                                   flush * std::max(1.0, std::fabs(scaled.factor)) + smallest_normal;
    return hull(at_the_end, around(total, error));
}

Interval SumRanges::range_of_terms(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const {
    const Interval factor(scaled.factor);
    reduction::SumRange sum;
    reduction::SumRange sum_of_scaled;
    reduction::SumRange scaled_first;
    bool may_be_nan = false;
    for (std::int64_t k = 0; k < factors_.shape().depth; ++k) {
        const Interval left = factors_.left().range_of(factors_.left_index(sums.batch, sums.row, k));
        const std::int64_t at = factors_.right_index(sums.batch, k, sums.column + i);
        if (at == Factors::nowhere) {
            // Implementations may multiply by a zero there.
            may_be_nan = may_be_nan || left.nan || std::isinf(left.low) || std::isinf(left.high);
            continue;
        }
        const Interval right = factors_.right().range_of(static_cast<std::size_t>(at));
        sum.add(left * right);
        sum_of_scaled.add(factor * (left * right));
        scaled_first.add(factor * left * right);
    }
    Interval at_the_end = factor * normalisation::maybe_stored(type_, sum.result());
    if (scaled.addend) {
        const Interval addend = Interval(scaled.weight) * Interval(*scaled.addend);
        at_the_end = at_the_end + addend;
        sum_of_scaled.add(addend);
        scaled_first.add(addend);
    }
    Interval range = hull(hull(at_the_end, sum_of_scaled.result()), scaled_first.result());
    range.nan = range.nan || may_be_nan;
    return range;
}

Interval SumRanges::range_in_fp32(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const {
    const auto quick = quick_range(sums.values[i], sums.bounds[i], factors_.terms(sums.column + i), scaled);
    return quick ? *quick : range_of_terms(sums, i, scaled);
}

Interval SumRanges::range_in_float16(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const {
    const double magnitude = std::max(1.0, std::fabs(scaled.factor));
    const double addend = scaled.addend ? scaled.weight * *scaled.addend : 0;
    const double bound = magnitude * sums.bounds[i] + std::fabs(addend);
    const std::int64_t roundings = factors_.terms(sums.column + i) + roundings_beside_the_sum;
    const double error = std::expm1(static_cast<double>(roundings) * one_rounding_in_float16) * bound +
                         static_cast<double>(roundings) * magnitude * flush_in_float16_;
    // Some partial sum may be infinite, and another one of the other sign as well.
    const double factors = std::max(magnitude, std::fabs(scaled.weight));
    if (!(bound + error <= largest_of_float16 && factors <= largest_of_float16)) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return {-infinity, infinity, true};
    }
    return around(scaled.value(sums.values[i]), error);
}

Interval SumRanges::range(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const {
    const Interval in_fp32 = range_in_fp32(sums, i, scaled);
    // Infinities and NaNs among the terms are what they are in any precision.
    if (accumulation_ == Accumulation::fp32 || !std::isfinite(sums.bounds[i])) {
        return in_fp32;
    }
    return hull(in_fp32, range_in_float16(sums, i, scaled));
}

double sum_of_terms(const Factors& factors, const Sums& sums, std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = 0; k < factors.shape().depth; ++k) {
        const std::int64_t at = factors.right_index(sums.batch, k, sums.column + i);
        if (at != Factors::nowhere) {
            sum += factors.left().values[factors.left_index(sums.batch, sums.row, k)] *
                   factors.right().values[static_cast<std::size_t>(at)];
        }
    }
    return sum;
}

}  // namespace dmlconform::cpu::product

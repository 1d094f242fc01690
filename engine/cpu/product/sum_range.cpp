// Error bounds of sums of products, from the number of roundings.
#include "engine/cpu/product/sum_range.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

constexpr int no_digits = 4096;

/// Roundings of the product, of Alpha and Beta, and of the addition of Beta * C.
constexpr std::int64_t roundings_beside_the_sum = 4;

/// The power of two with this exponent, which must be one of normal doubles.
double power_of_two(int exponent) {
    constexpr int bias = 1023;
    constexpr int fraction_bits = 52;
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + bias) << fraction_bits);
}

/// Properties of all numbers of one factor.
struct Character {
    int last_digit = no_digits;
    /// The largest magnitude of the finite numbers.
    double largest = 0;
    bool has_subnormal = false;
    bool has_subnormal_in_float16 = false;
};

/// The exponent of the last bit of a number that is not 0, as reduction::digits_of has it. T is double or float, and
/// Bits are signed integers of its size. GCC vectorises loops of it.
template <class T, class Bits>
Bits exponent_of_last_bit(T number) {
    using Pattern = std::make_unsigned_t<Bits>;
    constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
    constexpr Pattern hidden_bit = Pattern{1} << fraction_bits;
    constexpr Bits bias = std::numeric_limits<T>::max_exponent - 1;
    constexpr Pattern largest_exponent = 2 * std::numeric_limits<T>::max_exponent - 1;
    const auto bits = std::bit_cast<Pattern>(number);
    const Pattern exponent = bits >> fraction_bits & largest_exponent;
    const Pattern is_subnormal = static_cast<Pattern>(exponent == 0);
    const Pattern integer = (bits & (hidden_bit - 1)) | (hidden_bit & (is_subnormal - 1));
    // The last bit alone is a power of two, whose exponent counts the zeros.
    const auto power = std::bit_cast<Pattern>(static_cast<T>(static_cast<Bits>(integer & -integer)));
    const Bits zeros = static_cast<Bits>(power >> fraction_bits) - bias;
    const Bits last = static_cast<Bits>(exponent + is_subnormal) - bias - fraction_bits + zeros;
    const Bits mask = -(static_cast<Bits>(integer != 0) & static_cast<Bits>(exponent != largest_exponent));
    return (last & mask) | (no_digits & ~mask);
}

/// The exponent of the largest power of two that divides the number.
int last_digit(double number) {
    return static_cast<int>(exponent_of_last_bit<double, std::int64_t>(number));
}

/// The numbers are doubles or FP32 numbers, and `Bits` are integers of their size. Magnitudes are compared by their
/// bits, whose order is the same, because GCC does not vectorise the maximum of numbers that may be NaN.
template <class T, class Bits>
Character character_of(std::span<const T> numbers) {
    using Unsigned = std::make_unsigned_t<Bits>;
    constexpr auto infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    constexpr auto normal = std::bit_cast<Bits>(T(core::float32.smallest_normal));
    constexpr auto normal_in_float16 = std::bit_cast<Bits>(T(core::float16.smallest_normal));
    Bits last = no_digits;
    Bits greatest = 0;
    Bits subnormal = 0;
    Bits subnormal_in_float16 = 0;
    const T* const from = numbers.data();
    const std::size_t count = numbers.size();
    in_wide_registers([&] {
        Bits last_here = no_digits;
        Bits greatest_here = 0;
        Bits subnormal_here = 0;
        Bits subnormal_in_float16_here = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto magnitude = static_cast<Bits>(std::bit_cast<Unsigned>(from[i]) << 1 >> 1);
            const Bits of_number = exponent_of_last_bit<T, Bits>(from[i]);
            last_here = of_number < last_here ? of_number : last_here;
            const Bits finite = magnitude < infinity ? magnitude : 0;
            greatest_here = finite > greatest_here ? finite : greatest_here;
            subnormal_here |= static_cast<Bits>(magnitude > 0) & static_cast<Bits>(magnitude < normal);
            subnormal_in_float16_here |=
                static_cast<Bits>(magnitude > 0) & static_cast<Bits>(magnitude < normal_in_float16);
        }
        last = last_here;
        greatest = greatest_here;
        subnormal = subnormal_here;
        subnormal_in_float16 = subnormal_in_float16_here;
    });
    return {static_cast<int>(last), double{std::bit_cast<T>(greatest)}, subnormal != 0, subnormal_in_float16 != 0};
}

Character character_of(const Numbers& numbers) {
    return numbers.floats.empty() ? character_of<double, std::int64_t>(numbers.values)
                                  : character_of<float, std::int32_t>(numbers.floats);
}

/// The range around a value for a maximum error, with the variance of the expected error.
Interval around(double value, double error, double variance) {
    return Interval(value - error, value + error, false, value, variance) + Interval(0);
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
    error_of_all_ = reduction::error_after(factors.shape().depth - 1);
    error_of_all_and_addend_ = reduction::error_after(factors.shape().depth);
    may_be_exact_ = error == 0 && !left.has_subnormal && !right.has_subnormal;
    flush_ = core::float32.smallest_normal *
             (2 + (left.has_subnormal ? right.largest : 0) + (right.has_subnormal ? left.largest : 0));
    flush_in_float16_ = core::float16.smallest_normal * (2 + (left.has_subnormal_in_float16 ? right.largest : 0) +
                                                         (right.has_subnormal_in_float16 ? left.largest : 0));
    const bool may_have_rows = error == 0 && type == core::DataType::float32 && accumulation == Accumulation::fp32;
    for (std::int64_t column = 0; may_have_rows && column < factors.shape().columns; ++column) {
        const std::int64_t terms = factors.terms(column);
        terms_.push_back(static_cast<double>(terms));
        errors_.push_back(error_after(terms - 1));
        errors_with_addend_.push_back(error_after(terms));
    }
}

/// Then no intermediate result is subnormal.
double SumRanges::largest_exact(int exponent) const {
    return may_be_exact_ && exponent >= -126 ? power_of_two(std::min(exponent + core::float32.digits, 1023)) : -1;
}

/// Most sums have all terms.
double SumRanges::error_after(std::int64_t roundings) const {
    const std::int64_t depth = factors_.shape().depth;
    return roundings == depth       ? error_of_all_and_addend_
           : roundings == depth - 1 ? error_of_all_
                                    : reduction::error_after(roundings);
}

/// In the order of k, without padding. Other orders are accounted for by at least the sum of equal terms; random signs
/// and sizes give more.
double SumRanges::partial_squares(const Sums& sums, std::int64_t i) const {
    const auto terms = static_cast<double>(factors_.terms(sums.column + i));
    const double mean_square = terms == 0 ? 0 : sums.bounds[i] * sums.bounds[i] / (terms * terms);
    return std::max(sums.partial_squares[i] * terms / static_cast<double>(factors_.shape().depth),
                    partial_squares_in_any_order(terms, terms * mean_square, sums.values[i]));
}

/// Terms have the errors of their factors, and may be lost if they are subnormal.
double SumRanges::variance_of_terms(const Sums& sums, std::int64_t i) const {
    const double squares = sums.squares == nullptr ? 0 : sums.squares[i];
    return squares * uniform_variance(error_ / 2) +
           flush_variance(static_cast<double>(factors_.terms(sums.column + i)), flush_);
}

double SumRanges::variance(const Sums& sums, std::int64_t i) const {
    return sequential_sum_variance(partial_squares(sums, i), sums.values[i]) + variance_of_terms(sums, i);
}

/// The factor may be applied to the terms, and the addend may be added at any point: on average it is in half of the
/// partial sums.
double SumRanges::variance_of_scaled(const Sums& sums, std::int64_t i, const ScaledSum& scaled, double unit) const {
    const double factor = std::max(1.0, scaled.factor * scaled.factor);
    const double addend = scaled.addend ? scaled.weight * *scaled.addend : 0;
    const auto terms = static_cast<double>(factors_.terms(sums.column + i));
    const double squares = scaled.factor * scaled.factor * partial_squares(sums, i) + terms * addend * addend / 2;
    return sequential_sum_variance(squares, scaled.value(sums.values[i]), unit) + factor * variance_of_terms(sums, i);
}

std::optional<Interval> SumRanges::quick_range(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const {
    const double value = sums.values[i];
    const double bound = sums.bounds[i];
    const std::int64_t terms = factors_.terms(sums.column + i);
    const double addend = scaled.addend ? scaled.weight * *scaled.addend : 0;
    const double total = scaled.value(value);
    const double total_bound = std::fabs(scaled.factor) * bound + std::fabs(addend);
    // Also false for NaN.
    if (!(bound < core::float32.largest / 2 && total_bound < core::float32.largest / 2)) {
        return std::nullopt;
    }
    const double flush = flush_ * static_cast<double>(terms);
    // Partial sums are at most the sum of all positive terms or of all negative terms.
    const double sum_error = bound <= largest_exact(exponent_)
                                 ? 0
                                 : error_after(terms - 1) * (bound + std::fabs(value)) / 2 +
                                       (error_ + core::float32.one_rounding) * bound + flush;
    const Interval sum = normalisation::maybe_stored(type_, around(value, sum_error, variance(sums, i)));
    const bool plain = scaled.factor == 1;
    const Interval factored = plain ? sum : Interval(scaled.factor) * sum;
    if (plain && !scaled.addend) {
        return factored;
    }
    const Interval at_the_end =
        scaled.addend ? factored + Interval(scaled.weight) * Interval(*scaled.addend) : factored;
    const int exponent = std::min(plain ? exponent_ : exponent_ + last_digit(scaled.factor),
                                  may_be_exact_ ? last_digit(addend) : no_digits);
    const double error = total_bound <= largest_exact(exponent)
                             ? 0
                             : error_after(terms) * (total_bound + std::fabs(total)) / 2 +
                                   (error_ + 2 * core::float32.one_rounding) * total_bound +
                                   flush * std::max(1.0, std::fabs(scaled.factor)) + core::float32.smallest_normal;
    return hull(at_the_end, around(total, error, variance_of_scaled(sums, i, scaled, core::float32.half_rounding)));
}

std::optional<RowOfSums> SumRanges::row_of(const Sums& sums, const ScaledSum& scaled) const {
    if (terms_.empty() || sums.squares != nullptr || scaled.factor != 1) {
        return std::nullopt;
    }
    RowOfSums row{.values = sums.values, .bounds = sums.bounds, .partial_squares = sums.partial_squares};
    row.depth = static_cast<double>(factors_.shape().depth);
    row.flush = flush_;
    row.terms = terms_.data() + sums.column;
    row.errors = errors_.data() + sums.column;
    row.errors_with_addend = errors_with_addend_.data() + sums.column;
    row.largest_exact = largest_exact(exponent_);
    if (scaled.addend) {
        row.addend = scaled.weight * *scaled.addend;
        row.range_of_addend = Interval(scaled.weight) * Interval(*scaled.addend);
        row.largest_exact_with_addend =
            largest_exact(std::min(exponent_, may_be_exact_ ? last_digit(*row.addend) : no_digits));
    }
    return row;
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
            // Implementations may multiply by a zero of padding there.
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
    const auto quick = quick_range(sums, i, scaled);
    return quick ? *quick : range_of_terms(sums, i, scaled);
}

Interval SumRanges::range_in_float16(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const {
    const double magnitude = std::max(1.0, std::fabs(scaled.factor));
    const double addend = scaled.addend ? scaled.weight * *scaled.addend : 0;
    const double bound = magnitude * sums.bounds[i] + std::fabs(addend);
    const std::int64_t roundings = factors_.terms(sums.column + i) + roundings_beside_the_sum;
    const double error = std::expm1(static_cast<double>(roundings) * core::float16.one_rounding) * bound +
                         static_cast<double>(roundings) * magnitude * flush_in_float16_;
    // Partial sums may overflow to either infinity.
    const double factors = std::max(magnitude, std::fabs(scaled.weight));
    if (!(bound + error <= core::float16.largest && factors <= core::float16.largest)) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return {-infinity, infinity, true};
    }
    const double flush = static_cast<double>(roundings) * uniform_variance(magnitude * flush_in_float16_);
    return around(scaled.value(sums.values[i]), error,
                  variance_of_scaled(sums, i, scaled, core::float16.half_rounding) + flush);
}

Interval SumRanges::range(const Sums& sums, std::int64_t i, const ScaledSum& scaled) const {
    const Interval in_fp32 = range_in_fp32(sums, i, scaled);
    // Infinities and NaNs among the terms are the same in any precision.
    if (accumulation_ == Accumulation::fp32 || !std::isfinite(sums.bounds[i])) {
        return in_fp32;
    }
    return hull(in_fp32, range_in_float16(sums, i, scaled));
}

double sum_of_terms(const Factors& factors, const Sums& sums, std::int64_t i) {
    const Elements left = factors.left().elements();
    const Elements right = factors.right().elements();
    double sum = 0;
    for (std::int64_t k = 0; k < factors.shape().depth; ++k) {
        const std::int64_t at = factors.right_index(sums.batch, k, sums.column + i);
        if (at != Factors::nowhere) {
            sum += left[factors.left_index(sums.batch, sums.row, k)] * right[static_cast<std::size_t>(at)];
        }
    }
    return sum;
}

}  // namespace dmlconform::cpu::product

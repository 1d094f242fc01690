// Error bounds of sums and products, from the number of roundings.
#include "engine/cpu/reduction/totals.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"

namespace dmlconform::cpu::reduction {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = core::float32.largest;

Interval only_nan() {
    return {infinity, -infinity, true, 0, Interval::unknown};
}

/// Rounds to FP32, where subnormal numbers may be flushed to zero.
Interval in_fp32(const Interval& x) {
    return x + Interval(0);
}

}  // namespace

Digits digits_of(double number) {
    constexpr int fraction_bits = 52;
    constexpr int bias = 1075;  // for the exponent of the last bit
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(std::fabs(number));
    const auto exponent = static_cast<int>(bits >> fraction_bits);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
    const std::uint64_t integer = fraction | (exponent == 0 ? 0 : std::uint64_t{1} << fraction_bits);
    const int zeros = std::countr_zero(integer);
    return {std::max(exponent, 1) - bias + zeros, static_cast<int>(std::bit_width(integer)) - zeros};
}

double error_after(std::int64_t roundings) {
    return std::expm1(static_cast<double>(roundings) * core::float32.one_rounding);
}

// ---- products ----------------------------------------------------------------------------------------------------

void Product<double>::rescale() {
    if (value != 0 && std::isfinite(value)) {
        int power = 0;
        value = std::frexp(value, &power);
        exponent += power;
    }
}

double Product<double>::result() const {
    // Larger exponents only give zero or infinity.
    return std::ldexp(value, static_cast<int>(std::clamp<std::int64_t>(exponent, -10'000, 10'000)));
}

void ProductRange::add(double factor) {
    ++count_;
    product_.add(factor);
    if (std::isnan(factor)) {
        nan_ = true;
    } else if (std::isinf(factor)) {
        infinity_ = true;
    } else if (factor == 0) {
        zero_ = true;
    } else {
        const double power = std::log2(std::fabs(factor));
        above_one_ += std::max(power, 0.0);
        below_one_ += std::min(power, 0.0);
        const int digits = digits_of(factor).count;
        // A factor with one significant digit is a power of two, which only changes exponents.
        digits_ = std::min(digits_ + (digits == 1 ? 0 : digits), 2 * core::float32.digits);
    }
}

bool ProductRange::may_overflow() const {
    return count_ > 1 && above_one_ > 127.999;
}

/// A subnormal factor may be flushed to zero as well.
bool ProductRange::may_underflow() const {
    return below_one_ < -125.999;
}

Interval ProductRange::magnitude() const {
    const double exact = std::fabs(product_.result());
    const bool high = may_overflow();
    const bool low = may_underflow();
    const double error = digits_ <= core::float32.digits && !high && !low ? 0 : error_after(count_ - 1);
    // A subnormal product other than zero may be rounded up to twice its value.
    const double rise = low ? std::ldexp(1.0, static_cast<int>(std::min<std::int64_t>(count_ - 1, 2000))) : 1;
    // Each multiplication rounds once. The variance is unknown if products may leave the range.
    const double variance = low || high  ? Interval::unknown
                            : error == 0 ? 0
                                         : static_cast<double>(count_ - 1) * rounding_variance(exact);
    return {low ? 0 : exact - exact * error, high ? infinity : (exact + exact * error) * rise, high && low, exact,
            variance};
}

Interval ProductRange::result() const {
    if (nan_ || (infinity_ && zero_)) {
        return only_nan();
    }
    const double value = product_.result();
    if (infinity_) {
        return {value, value, may_underflow()};
    }
    if (zero_) {
        return {value, value, may_overflow()};
    }
    const Interval range = magnitude();
    return in_fp32(std::signbit(value) ? -range : range);
}

// ---- sums --------------------------------------------------------------------------------------------------------

void SumRange::note_digits(const Interval& term) {
    known_ = known_ && term.low == term.high && std::isfinite(term.low);
    if (known_ && term.low != 0) {
        common_exponent_ = std::min(common_exponent_, digits_of(term.low).exponent);
    }
}

void SumRange::add(const Interval& exact_term) {
    ++count_;
    const Interval term = in_fp32(exact_term);
    nan_ = nan_ || term.nan;
    if (!term.has_numbers()) {
        only_nan_ = true;
        return;
    }
    note_digits(term);
    upwards_.certain = upwards_.certain || term.low == infinity;
    upwards_.possible = upwards_.possible || term.high == infinity;
    downwards_.certain = downwards_.certain || term.high == -infinity;
    downwards_.possible = downwards_.possible || term.low == -infinity;
    // Infinities are handled separately.
    const double low = std::isinf(term.low) ? 0 : term.low;
    const double high = std::isinf(term.high) ? 0 : term.high;
    low_ += low;
    high_ += high;
    value_ += term.value;
    squares_ += term.value * term.value;
    partial_squares_ += value_ * value_;
    variance_of_terms_ += term.variance;
    positive_ += std::max({low, high, 0.0});
    negative_ += std::max({-low, -high, 0.0});
}

/// True if sums are exact in any order: all are multiples of the same power of two, and small enough.
bool SumRange::is_exact() const {
    return known_ && largest_sum() <= std::ldexp(1.0, common_exponent_ + core::float32.digits);
}

/// Upper bound of partial sums: the sum of all positive terms or of all negative terms.
double SumRange::largest_sum() const {
    return std::max(positive_, negative_);
}

double SumRange::error() const {
    const double magnitude = largest_sum();
    if (count_ < 2 || magnitude == 0 || is_exact()) {
        return 0;
    }
    // A subnormal sum may be flushed to zero.
    return magnitude * error_after(count_ - 1) + core::float32.smallest_normal * static_cast<double>(count_ - 1);
}

/// The errors of the terms add up, and each addition rounds unless all are exact. The partial sums of sorted terms are
/// larger than in other orders, those of terms with alternating signs are smaller.
double SumRange::variance(double error) const {
    if (error == 0) {
        return variance_of_terms_;
    }
    const auto count = static_cast<double>(count_);
    const double partial_squares = std::max(partial_squares_, partial_squares_in_any_order(count, squares_, value_));
    return variance_of_terms_ + sequential_sum_variance(partial_squares, value_) + flush_variance(count);
}

Interval SumRange::result() const {
    if (only_nan_ || (upwards_.certain && downwards_.certain)) {
        return only_nan();
    }
    const bool several = count_ > 1;
    const bool up = upwards_.possible || (several && positive_ > largest);
    const bool down = downwards_.possible || (several && negative_ > largest);
    const double off = error();
    Interval range{low_ - off, high_ + off, nan_ || (up && down), value_, variance(off)};
    if (upwards_.certain || downwards_.certain) {
        range.low = range.high = upwards_.certain ? infinity : -infinity;
        return range;
    }
    range.high = up ? infinity : range.high;
    range.low = down ? -infinity : range.low;
    return in_fp32(range);
}

}  // namespace dmlconform::cpu::reduction

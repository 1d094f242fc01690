// Roundings of sums and products, counted.
#include "engine/cpu/reduction/totals.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace dmlconform::cpu::reduction {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<float>::max();
constexpr double smallest_normal = std::numeric_limits<float>::min();
/// D3D 3.1.3: to nearest or towards zero.
constexpr double one_rounding = 0x1p-23;
constexpr int digits_of_fp32 = 24;

Interval only_nan() {
    return {infinity, -infinity, true};
}

/// What FP32 holds of it, where subnormal numbers may have become zero.
Interval in_fp32(const Interval& x) {
    return x + Interval(0);
}

}  // namespace

Digits digits_of(double number) {
    int exponent = 0;
    const double mantissa = std::frexp(std::fabs(number), &exponent);
    const auto integer = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
    const int zeros = std::countr_zero(integer);
    return {exponent - 53 + zeros, 53 - zeros};
}

double error_after(std::int64_t roundings) {
    return std::expm1(static_cast<double>(roundings) * one_rounding);
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
    // Further than that there is nothing but zero and infinity.
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
        // One digit is a power of two, which changes exponents only.
        digits_ = std::min(digits_ + (digits == 1 ? 0 : digits), 2 * digits_of_fp32);
    }
}

bool ProductRange::may_overflow() const {
    return count_ > 1 && above_one_ > 127.999;
}

/// A factor that is subnormal may count as zero, too.
bool ProductRange::may_underflow() const {
    return below_one_ < -125.999;
}

Interval ProductRange::magnitude() const {
    const double exact = std::fabs(product_.result());
    const bool high = may_overflow();
    const bool low = may_underflow();
    const double error = digits_ <= digits_of_fp32 && !high && !low ? 0 : error_after(count_ - 1);
    // A product that is subnormal, if it is not zero, may be rounded up to twice as much.
    const double rise = low ? std::ldexp(1.0, static_cast<int>(std::min<std::int64_t>(count_ - 1, 2000))) : 1;
    return {low ? 0 : exact - exact * error, high ? infinity : (exact + exact * error) * rise, high && low};
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
    // Infinities are accounted for.
    const double low = std::isinf(term.low) ? 0 : term.low;
    const double high = std::isinf(term.high) ? 0 : term.high;
    low_ += low;
    high_ += high;
    positive_ += std::max({low, high, 0.0});
    negative_ += std::max({-low, -high, 0.0});
}

/// Whether no order rounds: every sum is a multiple of the same power of two, and small enough.
bool SumRange::is_exact() const {
    return known_ && largest_sum() <= std::ldexp(1.0, common_exponent_ + digits_of_fp32);
}

/// Of those on the way: of nothing but positive terms, or of nothing but negative ones.
double SumRange::largest_sum() const {
    return std::max(positive_, negative_);
}

double SumRange::error() const {
    const double magnitude = largest_sum();
    if (count_ < 2 || magnitude == 0 || is_exact()) {
        return 0;
    }
    // A sum that is subnormal may become zero.
    return magnitude * error_after(count_ - 1) + smallest_normal * static_cast<double>(count_ - 1);
}

Interval SumRange::result() const {
    if (only_nan_ || (upwards_.certain && downwards_.certain)) {
        return only_nan();
    }
    const bool several = count_ > 1;
    const bool up = upwards_.possible || (several && positive_ > largest);
    const bool down = downwards_.possible || (several && negative_ > largest);
    Interval range{low_ - error(), high_ + error(), nan_ || (up && down)};
    if (upwards_.certain || downwards_.certain) {
        range.low = range.high = upwards_.certain ? infinity : -infinity;
        return range;
    }
    range.high = up ? infinity : range.high;
    range.low = down ? -infinity : range.low;
    return in_fp32(range);
}

}  // namespace dmlconform::cpu::reduction

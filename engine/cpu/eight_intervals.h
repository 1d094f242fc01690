// Intervals of eight elements at a time. The operations are those of Interval, for numbers at which none of them has a
// special case: finite ones of FP32's range that are zero or not subnormal.
//
// Every operation gives exactly what Interval gives for each of the eight, as long as all numbers that were seen are
// such ordinary ones. Otherwise the results mean nothing, and Interval must be asked.
#pragma once

#include "engine/core/floating_format.h"
#include "engine/cpu/wide_registers.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/cpu/expected_error.h"
#include "engine/cpu/interval.h"

namespace dmlconform::cpu {

using Eight [[gnu::vector_size(64)]] = double;
using EightIntegers [[gnu::vector_size(64)]] = std::int64_t;
using EightBits [[gnu::vector_size(64)]] = std::uint64_t;
using EightFloats [[gnu::vector_size(32)]] = float;
using EightWords [[gnu::vector_size(32)]] = std::int32_t;

/// For functions that work on vectors: GCC takes generic vectors apart before it inlines a function into one that is
/// compiled for wider registers. They may be called only if has_avx512() is true.
#define DMLCONFORM_EIGHT [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]

// Vectors are passed by reference, because functions that are compiled for other processors pass them differently.
//
// Conversions are instructions with a mask: GCC 12 makes two of each conversion of a generic vector, and warns of what
// the instructions without a mask leave undefined (GCC bug 105593).
constexpr __mmask8 all_eight = 0xff;

DMLCONFORM_EIGHT inline void widen(const EightFloats& numbers, Eight& result) {
    result = static_cast<Eight>(_mm512_maskz_cvtps_pd(all_eight, static_cast<__m256>(numbers)));
}
DMLCONFORM_EIGHT inline void narrow(const Eight& numbers, EightFloats& result) {
    result = static_cast<EightFloats>(_mm512_maskz_cvtpd_ps(all_eight, static_cast<__m512d>(numbers)));
}
/// The FP32 numbers that are not above, or not below.
DMLCONFORM_EIGHT inline void narrow_down(const Eight& numbers, EightFloats& result) {
    result = static_cast<EightFloats>(_mm512_maskz_cvt_roundpd_ps(all_eight, static_cast<__m512d>(numbers),
                                                                  _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
DMLCONFORM_EIGHT inline void narrow_up(const Eight& numbers, EightFloats& result) {
    result = static_cast<EightFloats>(_mm512_maskz_cvt_roundpd_ps(all_eight, static_cast<__m512d>(numbers),
                                                                  _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
}

/// The extreme magnitudes of the numbers that operations have seen.
class Seen {
public:
    DMLCONFORM_EIGHT void note(const Eight& numbers) {
        // As integers, magnitudes of doubles have the same order, and NaN is the greatest.
        const EightBits magnitudes = __builtin_bit_cast(EightBits, numbers) << 1 >> 1;
        greatest_ = magnitudes > greatest_ ? magnitudes : greatest_;
        // Zero becomes the greatest, because it is ordinary.
        const EightBits lessened = magnitudes - 1;
        least_ = lessened < least_ ? lessened : least_;
    }
    [[nodiscard]] DMLCONFORM_EIGHT bool are_finite() const { return hold(greatest_ <= largest); }
    [[nodiscard]] DMLCONFORM_EIGHT bool are_ordinary() const {
        return hold((greatest_ <= largest) & (least_ >= smallest - 1));
    }

private:
    static constexpr auto largest = std::bit_cast<std::uint64_t>(core::float32.largest);
    static constexpr auto smallest = std::bit_cast<std::uint64_t>(core::float32.smallest_normal);

    template <class Conditions>
    DMLCONFORM_EIGHT static bool hold(const Conditions& conditions) {
        auto all = conditions[0];
        for (int i = 1; i < 8; ++i) {
            all &= conditions[i];
        }
        return all != 0;
    }

    EightBits greatest_ = {};
    EightBits least_ = ~EightBits{};
};

/// True if an interval has no special case in any operation.
inline bool is_ordinary(const Interval& x) {
    bool result = !x.nan && x.has_numbers();
    for (const double number : {x.low, x.high, x.value}) {
        const double magnitude = std::fabs(number);
        result = result && magnitude <= core::float32.largest &&
                 (magnitude == 0 || magnitude >= core::float32.smallest_normal);
    }
    return result;
}

struct EightIntervals {  // NOLINT(cppcoreguidelines-pro-type-member-init)
    Eight low;
    Eight high;
    Eight value;
    Eight variance;
    /// Null for what is the same in all elements, and known to be ordinary.
    Seen* seen = nullptr;

    EightIntervals() = default;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    DMLCONFORM_EIGHT EightIntervals(
        double number)  // NOLINT(google-explicit-constructor): formulas mix numbers and intervals
        : low(Eight{} + number), high(low), value(low), variance(Eight{}) {}
    /// Eight consecutive numbers.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): copied into
    DMLCONFORM_EIGHT EightIntervals(const double* numbers, Seen& by) : variance(Eight{}) {
        std::memcpy(&low, numbers, sizeof low);
        high = value = low;
        follow(by);
    }
    /// The same interval eight times. It must be ordinary: see is_ordinary.
    DMLCONFORM_EIGHT explicit EightIntervals(const Interval& x)
        : low(Eight{} + x.low), high(Eight{} + x.high), value(Eight{} + x.value), variance(Eight{} + x.variance) {}

    /// Shows the numbers to `by`, and those of all results.
    DMLCONFORM_EIGHT void follow(Seen& by) {
        seen = &by;
        by.note(low);
        by.note(high);
        by.note(value);
    }
};

namespace detail {

/// The largest FP32 numbers that are below x where `less` is set, and otherwise not above x.
DMLCONFORM_EIGHT inline void round_down(const Eight& x, const EightIntegers& less, Eight& result) {
    EightFloats rounded;
    narrow_down(x, rounded);
    Eight back;
    widen(rounded, back);
    const EightIntegers is_step = (back == x) & less;
    const EightWords step = __builtin_convertvector(is_step, EightWords);
    // As integers, FP32's negative numbers grow downwards.
    const EightWords bits = __builtin_bit_cast(EightWords, rounded);
    const EightWords sign = bits >> 31;
    const EightWords stepped = bits + ((step ^ sign) - sign);
    widen(__builtin_bit_cast(EightFloats, stepped), result);
}

DMLCONFORM_EIGHT inline void note_rounded(EightIntervals& x, Seen* seen) {
    const EightIntegers is_single = x.low == x.high;
    x.value = is_single ? x.low : x.value;
    x.variance = is_single ? Eight{} : x.variance;
    x.follow(*seen);
}

/// The FP32 numbers around these reals, with the expected error of those that are not FP32 numbers. An end beyond
/// FP32's range is rounded to an infinity, which `seen` notes.
DMLCONFORM_EIGHT inline void round_outwards(EightIntervals& x, Seen* seen) {
    EightFloats rounded;
    narrow_down(x.low, rounded);
    widen(rounded, x.low);
    narrow_up(x.high, rounded);
    widen(rounded, x.high);
    note_rounded(x, seen);
}
/// The reals are in front of `low` and behind `high` where `less` and `more` are set.
DMLCONFORM_EIGHT inline void round_outwards(EightIntervals& x, const EightIntegers& less, const EightIntegers& more,
                                            Seen* seen) {
    round_down(x.low, less, x.low);
    const Eight negative = -x.high;
    round_down(negative, more, x.high);
    x.high = -x.high;
    note_rounded(x, seen);
}

/// The variance of rounding ordinary numbers once: see rounding_variance.
DMLCONFORM_EIGHT inline void add_rounding(const Eight& value, const EightIntegers& is_exact, Eight& variance) {
    const Eight bound = core::float32.half_rounding * value;
    const Eight own = bound * bound / 3;
    variance += is_exact ? Eight{} : own;
}

DMLCONFORM_EIGHT inline Seen* seen_by(const EightIntervals& a, const EightIntervals& b) {
    return a.seen != nullptr ? a.seen : b.seen;
}

DMLCONFORM_EIGHT inline void find_powers_of_two(const EightIntervals& x, EightIntegers& result) {
    constexpr std::int64_t mantissa = (std::int64_t{1} << 52) - 1;
    result = (x.low == x.high) & ((__builtin_bit_cast(EightIntegers, x.low) & mantissa) == 0);
}

/// The sums of doubles, and their errors (Knuth).
DMLCONFORM_EIGHT inline void add(const Eight& x, const Eight& y, Eight& total, Eight& rest) {
    total = x + y;
    const Eight part = total - x;
    rest = (x - (total - part)) + (y - part);
}

}  // namespace detail

DMLCONFORM_EIGHT inline EightIntervals operator-(const EightIntervals& a) {
    EightIntervals result;
    result.low = -a.high;
    result.high = -a.low;
    result.value = -a.value;
    result.variance = a.variance;
    result.seen = a.seen;
    return result;
}

DMLCONFORM_EIGHT inline EightIntervals operator+(const EightIntervals& a, const EightIntervals& b) {
    Seen* const seen = detail::seen_by(a, b);
    EightIntervals sum;
    Eight below;
    Eight above;
    detail::add(a.low, b.low, sum.low, below);
    detail::add(a.high, b.high, sum.high, above);
    sum.value = a.value + b.value;
    sum.variance = a.variance + b.variance;
    const EightIntegers is_copy = ((a.low == 0) & (a.high == 0)) | ((b.low == 0) & (b.high == 0));
    detail::add_rounding(sum.value, is_copy, sum.variance);
    detail::round_outwards(sum, (below < 0), (above > 0), seen);
    return sum;
}

DMLCONFORM_EIGHT inline EightIntervals operator-(const EightIntervals& a, const EightIntervals& b) {
    return a + -b;
}

DMLCONFORM_EIGHT inline EightIntervals operator*(const EightIntervals& a, const EightIntervals& b) {
    Seen* const seen = detail::seen_by(a, b);
    EightIntervals product;
    product.low = a.low * b.low;
    product.high = product.low;
    for (const Eight& candidate : {Eight(a.low * b.high), Eight(a.high * b.low), Eight(a.high * b.high)}) {
        product.low = candidate < product.low ? candidate : product.low;
        product.high = candidate > product.high ? candidate : product.high;
    }
    EightIntegers is_exact;
    EightIntegers other_is_exact;
    detail::find_powers_of_two(a, is_exact);
    detail::find_powers_of_two(b, other_is_exact);
    product.value = a.value * b.value;
    product.variance = a.variance * b.value * b.value + b.variance * a.value * a.value;
    detail::add_rounding(product.value, is_exact | other_is_exact, product.variance);
    detail::round_outwards(product, seen);
    return product;
}

DMLCONFORM_EIGHT inline EightIntervals hull(const EightIntervals& a, const EightIntervals& b) {
    EightIntervals result;
    result.low = b.low < a.low ? b.low : a.low;
    result.high = a.high < b.high ? b.high : a.high;
    result.value = a.value;
    // NaN, which stands for unknown, must win.
    const Eight otherwise = b.variance + 0 * a.variance;
    result.variance = a.variance >= b.variance ? a.variance : otherwise;
    result.seen = detail::seen_by(a, b);
    return result;
}

DMLCONFORM_EIGHT inline EightIntervals min(const EightIntervals& a, const EightIntervals& b) {
    EightIntervals result;
    result.low = b.low < a.low ? b.low : a.low;
    result.high = b.high < a.high ? b.high : a.high;
    const EightIntegers is_second = b.value < a.value;
    result.value = is_second ? b.value : a.value;
    const Eight distance = a.value - b.value;
    const EightIntegers is_clear =
        distance * distance > clear_distance * clear_distance * Eight(a.variance + b.variance);
    const Eight of_lesser = is_second ? b.variance : a.variance;
    const Eight larger = a.variance < b.variance ? b.variance : a.variance;
    result.variance = is_clear ? of_lesser : larger;
    result.seen = detail::seen_by(a, b);
    return result;
}

DMLCONFORM_EIGHT inline EightIntervals max(const EightIntervals& a, const EightIntervals& b) {
    return -min(-a, -b);
}

}  // namespace dmlconform::cpu

#endif

// Converts intervals of FP32 elements to slack, eight at a time: note_accepted for elements without special cases.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "engine/core/tolerance.h"
#include "engine/cpu/eight_intervals.h"

namespace dmlconform::cpu {

#if DMLCONFORM_HAS_WIDE_REGISTERS
namespace detail {

/// Eight numbers of an array, rounded to FP32.
DMLCONFORM_EIGHT inline void load_stored(const double* from, Eight& to) {
    std::memcpy(&to, from, sizeof to);
    EightFloats stored;
    narrow(to, stored);
    widen(stored, to);
}

/// What note_accepted stores for finite FP32 elements and ranges that are not NaN, except that sigma is the variance
/// or, if the expected error is not known, 0. `half` is half of the ranges' widths.
DMLCONFORM_EIGHT inline void store_slack(core::ElementSlack& slack, std::size_t first, const Eight& stored,
                                         const EightIntervals& range, double* half_widths) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Eight zero = {};
    Eight below = stored - range.low;
    Eight above = range.high - stored;
    below = zero < below ? below : zero;
    above = zero < above ? above : zero;
    const Eight half = (range.high - range.low) / 2;
    const EightIntegers is_known =
        (half > zero) & (half < infinity) & (range.variance > zero) & (range.variance < infinity);
    const Eight variance = is_known ? range.variance : zero;
    std::memcpy(&slack.below[first], &below, sizeof below);
    std::memcpy(&slack.above[first], &above, sizeof above);
    std::memcpy(&slack.sigma[first], &variance, sizeof variance);
    std::memcpy(half_widths, &half, sizeof half);
    std::memset(&slack.nan[first], 0, 8);
    std::memset(&slack.finite[first], 0, 8);
}

/// Replaces variances by their roots, and those by the limits that are less. `count` is a multiple of 8.
void limit_roots(double* variances, const double* limits, std::size_t count);

}  // namespace detail
#endif

/// Stores the slack of consecutive FP32 elements for which the reference computed `values`. `eights` returns a
/// function (i, seen) that returns the EightIntervals of the eight elements from `i`. one(i) must store the slack of
/// one element by note_accepted; it is called for elements at which an operation has a special case, and on processors
/// without wide registers for all.
template <class Eights, class One>
void note_accepted_eights(core::ElementSlack& slack, std::size_t first, std::span<const double> values,
                          [[maybe_unused]] const Eights& eights, const One& one) {
    std::size_t done = 0;
#if DMLCONFORM_HAS_WIDE_REGISTERS
    constexpr std::size_t most = 64;  // eights, one for each bit
    const std::size_t all = has_avx512() ? values.size() / 8 : 0;
    for (std::size_t from = 0; from < all; from += most) {
        const std::size_t to = std::min(all, from + most);
        std::uint64_t are_special = 0;
        std::array<double, most * 8> half_widths{};
        double* const halves = half_widths.data();
        const double* const numbers = values.data();
        detail::with_avx512([&] {
            const auto ranges = eights();
            for (std::size_t eight = from; eight < to; ++eight) {
                const std::size_t i = eight * 8;
                Eight stored;
                detail::load_stored(numbers + i, stored);
                Seen seen;
                const EightIntervals range = ranges(i, seen);
                Seen seen_results;
                seen_results.note(stored);
                if (seen.are_ordinary() && seen_results.are_finite()) {
                    detail::store_slack(slack, first + i, stored, range, halves + (i - from * 8));
                } else {
                    are_special |= std::uint64_t{1} << (eight - from);
                }
            }
        });
        detail::limit_roots(&slack.sigma[first + from * 8], halves, (to - from) * 8);
        for (std::size_t eight = from; eight < to; ++eight) {
            for (std::size_t i = 0; (are_special >> (eight - from) & 1) != 0 && i < 8; ++i) {
                one(eight * 8 + i);
            }
        }
        done = to * 8;
    }
#endif
    for (; done < values.size(); ++done) {
        one(done);
    }
}

}  // namespace dmlconform::cpu

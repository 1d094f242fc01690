// Tests by ranks, which do not assume how what was measured is distributed: Mann and Whitney's, whether one sample
// tends to be larger than another; the sign test, whether differences tend to one side; and Mann and Kendall's, whether
// what was measured one after another tends upwards or downwards.
#pragma once

#include <span>

namespace dmlconform::bench {

/// The two-sided p-value: how probable so uneven a mixture of ranks is when both samples come from one distribution.
/// 1 when either is empty. Exact without ties for up to 400 pairs, otherwise by the normal approximation, with
/// corrections for ties and continuity.
[[nodiscard]] double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// The two-sided p-value of the sign test: how probable so uneven a division of signs is when each difference might as
/// well have the other one. Differences of zero do not count; 1 when none does. Exact. It goes with a median: how large
/// the differences are does not matter, so that a few runs that were disturbed for long do not either.
[[nodiscard]] double sign_p(std::span<const double> differences);

/// What an estimate may be by chance; infinite where a sample is too small to say.
struct Interval {
    double least = 0;
    double greatest = 0;
};

/// By how much the second sample is larger than the first: the shifts that mann_whitney_p would not call significant at
/// 1 - `confidence` (Hodges and Lehmann's interval).
[[nodiscard]] Interval shift_interval(std::span<const double> a, std::span<const double> b, double confidence);

/// The interval of the median of the population: the values that sign_p would not call significant.
[[nodiscard]] Interval median_interval(std::span<const double> sample, double confidence);

/// The two-sided p-value of the Mann-Kendall test: how probable so many pairs in one order are when every order of the
/// sample is as probable as any other. 1 for fewer than two. By the normal approximation, with a correction for
/// continuity; from 8 values on it is good enough.
[[nodiscard]] double trend_p(std::span<const double> sample);

}  // namespace dmlconform::bench

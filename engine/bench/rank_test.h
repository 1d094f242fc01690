// Rank tests, which make no assumption about the distribution: Mann-Whitney (whether one sample tends to be larger),
// the sign test (whether differences tend to one side), and Mann-Kendall (whether a sequence has a trend).
#pragma once

#include <cstddef>
#include <span>

namespace dmlconform::bench {

/// The two-sided p-value: the probability of ranks at least this uneven if both samples have the same distribution. 1
/// if either is empty. Exact for up to 400 pairs, otherwise by the normal approximation with corrections for ties and
/// continuity.
[[nodiscard]] double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// The least p-value that samples of these sizes can have, when each value of the one is beyond all of the other.
[[nodiscard]] double least_mann_whitney_p(std::size_t a, std::size_t b);

/// The two-sided p-value of the sign test: how probable so uneven a division of signs is when each difference might as
/// well have the other one. Differences of zero do not count; 1 when none does. Exact. It goes with a median: how large
/// the differences are does not matter, so that a few runs that were disturbed for long do not either.
[[nodiscard]] double sign_p(std::span<const double> differences);

/// A confidence interval; infinite if the sample is too small.
struct Interval {
    double least = 0;
    double greatest = 0;
};

/// The shift from the first to the second sample: those shifts that mann_whitney_p would not reject at 1 - `confidence`
/// (the Hodges-Lehmann interval).
[[nodiscard]] Interval shift_interval(std::span<const double> a, std::span<const double> b, double confidence);

/// The confidence interval of the population's median: the values that sign_p would not reject.
[[nodiscard]] Interval median_interval(std::span<const double> sample, double confidence);

/// The two-sided p-value of the Mann-Kendall test: the probability that chance alone orders the pairs at least as
/// much, if all orders are equally probable. 1 for fewer than two values. Uses the normal approximation with a
/// continuity correction, which is accurate enough from 8 values on.
[[nodiscard]] double trend_p(std::span<const double> sample);

}  // namespace dmlconform::bench

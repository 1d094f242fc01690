// Evaluates the formulas of statistics on intervals.
#include "engine/cpu/normalisation/statistics_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/normalisation/normalisation_range.h"

namespace dmlconform::cpu::normalisation {
namespace {

Interval widened(const Interval& x, double by, double variance) {
    return x.has_numbers() && std::isfinite(by)
               ? Interval(x.low - by, x.high + by, x.nan, x.value, x.variance + variance)
               : x;
}

/// The mean's error e shifts the variance by e * e. On average that is the variance of e, with a spread of the same
/// size.
double variance_of_shift(double variance_of_mean) {
    return 2 * variance_of_mean * variance_of_mean;
}

}  // namespace

double largest_magnitude(const Interval& x) {
    return x.has_numbers() ? std::max(std::fabs(x.low), std::fabs(x.high)) : std::numeric_limits<double>::infinity();
}

Interval divided(const Interval& sum, std::size_t count) {
    const Interval n(static_cast<double>(count));
    return hull(sum / n, sum * (Interval(1) / n));
}

Interval product(const Interval& a, const Interval& b, const Interval& c) {
    return hull(hull((a * b) * c, a * (b * c)), (a * c) * b);
}

Interval reciprocal_root(const Interval& variance, double epsilon) {
    return Interval(1) / sqrt(variance + Interval(epsilon));
}

void PassesRange::add(const Interval& term) {
    sum_.add(term);
    magnitude_ += std::max(std::fabs(term.low), std::fabs(term.high));
    ++count_;
}

Interval PassesRange::sum() const {
    const bool rounds = type_ == core::DataType::float16 && passes_ > 1;
    const double each =
        std::max(magnitude_ * core::float16.one_rounding, static_cast<double>(count_) * core::float16.smallest);
    const double by = rounds ? static_cast<double>(passes_ - 1) * each : 0;
    return widened(sum_.result(), by, uniform_variance(by));
}

Interval PassesRange::mean() const {
    const double roundings = static_cast<double>(count_ + passes_) * core::float32.one_rounding;
    const Interval mean = divided(sum(), count_);
    // The sum's variance already contains its own roundings. Terms that cancel do not do so in the means of the first
    // passes, whose roundings are those of larger numbers.
    return passes_ > 1
               ? widened(mean, roundings * magnitude_ / static_cast<double>(count_),
                         static_cast<double>(passes_) * rounding_variance(magnitude_ / static_cast<double>(count_)))
               : mean;
}

Interval mean_range(std::span<const double> numbers, PassesRange none) {
    for (const double number : numbers) {
        none.add(number);
    }
    return none.mean();
}

Interval variance_range(std::span<const double> numbers, double mean, const Interval& mean_range, PassesRange none) {
    for (const double number : numbers) {
        const Interval distance = abs(Interval(number) - Interval(mean));
        none.add(distance * distance);
    }
    const Interval about_mean = none.mean();
    if (!about_mean.has_numbers() || !mean_range.has_numbers()) {
        return about_mean;
    }
    const double off = std::max(mean_range.high - mean, mean - mean_range.low);
    const Interval shift = Interval(0, off, false) * Interval(0, off, false);
    // The number of roundings is the same for shifted values.
    const double roundings = static_cast<double>(numbers.size() + 4) * core::float32.one_rounding;
    return {std::max(0.0, about_mean.low - shift.high * roundings), about_mean.high + shift.high * (1 + roundings),
            about_mean.nan || std::isinf(off), about_mean.value,
            about_mean.variance + variance_of_shift(mean_range.variance)};
}

Interval limited(Interval range, const Interval& together, double by) {
    if (range.has_numbers() && together.has_numbers() && by < core::float32.largest * core::float32.one_rounding) {
        range.low = std::max(range.low, together.low - by);
        range.high = std::min(range.high, together.high + by);
    }
    return range;
}

}  // namespace dmlconform::cpu::normalisation

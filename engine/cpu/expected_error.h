// The variance of the error of the simplest FP32 implementation, which rounds after each operation and adds the terms
// of sums one by one. Comparisons relate the errors of a whole tensor to it. The range of each element is much wider,
// because it covers the worst case.
//
// An error that is uniformly distributed within a bound has a variance of a third of the bound's square. Variances of
// independent errors add up. An operation propagates an error by its derivative.
#pragma once

#include <cmath>
#include <limits>

#include "engine/core/floating_format.h"

namespace dmlconform::cpu {

/// Values that are this many standard deviations of their difference apart are clearly different.
inline constexpr double clear_distance = 6;

/// Variance of an error that is uniformly distributed from -bound to bound.
[[nodiscard]] constexpr double uniform_variance(double bound) {
    return bound * bound / 3;
}

/// Variance of rounding a value once to the nearest number, or to zero if it is subnormal, as Direct3D does in FP32.
/// Beyond FP32's range it is unknown, which is infinity: there an implementation may have gone on with infinity.
[[nodiscard]] constexpr double rounding_variance(double value, double unit = core::float32.half_rounding) {
    if (value > core::float32.largest || value < -core::float32.largest) {
        return std::numeric_limits<double>::infinity();
    }
    const bool may_be_flushed = value < core::float32.smallest_normal && value > -core::float32.smallest_normal;
    return may_be_flushed ? value * value : uniform_variance(unit * value);
}

/// Variance of rounding a value to FLOAT16 once. Its subnormal numbers are 2^-24 apart. Infinite beyond its range.
[[nodiscard]] inline double float16_rounding_variance(double value) {
    constexpr double half_of_smallest = 0x1p-25;
    if (std::fabs(value) > core::float16.largest) {
        return std::numeric_limits<double>::infinity();
    }
    return uniform_variance(std::fmax(core::float16.half_rounding * std::fabs(value), half_of_smallest));
}

/// Variance of a sum whose partial sums' squares add up to this number: each addition rounds a partial sum, and storing
/// rounds the total once more.
[[nodiscard]] constexpr double sequential_sum_variance(double partial_squares, double total,
                                                       double unit = core::float32.half_rounding) {
    return unit * unit / 3 * (partial_squares + total * total);
}

/// The expected sum of the squared partial sums if the terms come in random order. `squares` is the sum of the terms'
/// squares.
///
/// The sum of the first k terms is on average k / terms of the total. It deviates from that by the sum of k terms of
/// random sign. Summed over all k, this is at most terms * total^2 / 3 plus terms * squares / 2.
[[nodiscard]] constexpr double partial_squares_in_any_order(double terms, double squares, double total) {
    return terms * (squares / 2 + total * total / 3);
}

/// Variance of a sum of terms that may all be so small that they count as zero: these errors have one direction.
[[nodiscard]] constexpr double flush_variance(double terms, double largest_flushed = core::float32.smallest_normal) {
    return uniform_variance(terms * largest_flushed);
}

/// Variance of a sum whose terms are added one after the other in any order.
[[nodiscard]] constexpr double sum_variance(double terms, double squares, double total,
                                            double unit = core::float32.half_rounding) {
    return sequential_sum_variance(partial_squares_in_any_order(terms, squares, total), total, unit) +
           flush_variance(terms);
}

}  // namespace dmlconform::cpu

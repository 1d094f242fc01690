// The variance of the error of the simplest FP32 implementation, which rounds after each operation and adds the terms
// of sums one by one. Comparisons relate the errors of a whole tensor to it. The range of each element is much wider,
// because it covers the worst case.
//
// An error that is uniformly distributed within a bound has a variance of a third of the bound's square. Variances of
// independent errors add up. An operation propagates an error by its derivative.
#pragma once

#include <cmath>
#include <limits>

namespace dmlconform::cpu {

/// Half the distance from 1 to the next number, which is the relative error of rounding to nearest once.
inline constexpr double unit_of_fp32 = 0x1p-24;
inline constexpr double unit_of_float16 = 0x1p-11;
/// FP32's smallest normal number. Direct3D may flush smaller ones to zero.
inline constexpr double smallest_normal = 0x1p-126;
inline constexpr double largest_fp32 = std::numeric_limits<float>::max();
inline constexpr double largest_float16 = 65504;

/// Values that are this many standard deviations of their difference apart are clearly different.
inline constexpr double clear_distance = 6;

/// Variance of an error that is uniformly distributed from -bound to bound.
[[nodiscard]] constexpr double uniform_variance(double bound) {
    return bound * bound / 3;
}

/// Variance of rounding a value once to the nearest number, or to zero if it is subnormal, as Direct3D does in FP32.
/// Beyond FP32's range it is unknown, which is infinity: there an implementation may have gone on with infinity.
[[nodiscard]] constexpr double rounding_variance(double value, double unit = unit_of_fp32) {
    if (value > largest_fp32 || value < -largest_fp32) {
        return std::numeric_limits<double>::infinity();
    }
    const bool may_be_flushed = value < smallest_normal && value > -smallest_normal;
    return may_be_flushed ? value * value : uniform_variance(unit * value);
}

/// Variance of rounding a value to FLOAT16 once. Its subnormal numbers are 2^-24 apart. Infinite beyond its range.
[[nodiscard]] inline double float16_rounding_variance(double value) {
    constexpr double half_of_smallest = 0x1p-25;
    if (std::fabs(value) > largest_float16) {
        return std::numeric_limits<double>::infinity();
    }
    return uniform_variance(std::fmax(unit_of_float16 * std::fabs(value), half_of_smallest));
}

/// Variance of a sum whose partial sums' squares add up to this number: each addition rounds a partial sum, and storing
/// rounds the total once more.
[[nodiscard]] constexpr double sequential_sum_variance(double partial_squares, double total,
                                                       double unit = unit_of_fp32) {
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
[[nodiscard]] constexpr double flush_variance(double terms, double largest_flushed = smallest_normal) {
    return uniform_variance(terms * largest_flushed);
}

/// Variance of a sum whose terms are added one after the other in any order.
[[nodiscard]] constexpr double sum_variance(double terms, double squares, double total, double unit = unit_of_fp32) {
    return sequential_sum_variance(partial_squares_in_any_order(terms, squares, total), total, unit) +
           flush_variance(terms);
}

}  // namespace dmlconform::cpu

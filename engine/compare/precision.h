// Estimates from all errors of an output together in which precision it was computed: see docs/precision.md.
//
// An error range must contain the worst case, in which all roundings add up. For a sum of n terms it is about √n times
// wider than the typical error, so products in TF32 fit in as well. A single error cannot distinguish an unlucky FP32
// sum from a coarser one, but thousands of errors can.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/core/data_type.h"
#include "engine/core/rounded_sum.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// The minimum number of elements for an estimate.
inline constexpr std::uint64_t least_elements = 64;

/// A computation in FP32 gives a larger Q for less than one of 10^6 tensors.
///
/// Let z be the error of an element in units of its standard deviation. Errors are sums of roundings. By the
/// probabilistic model of rounding (Higham and Mary, 2019) these have mean 0 given all that was computed before, and
/// are uniform within half a unit in the last place, whatever the order of the sum. A uniform distribution is strictly
/// sub-Gaussian: E exp(λz) <= exp(λ²/2), and so is a sum of such martingale differences. Averaging over a normal λ
/// gives E exp(s·z²) <= (1 - 2s)^(-1/2) for s < 1/2. Q² is the mean of z² over the elements, and exp is convex, so that
/// E exp(s·Q²) is at most the mean of E exp(s·z²), however much the elements' errors depend on each other. Markov's
/// inequality with s = (1 - 1/t²) / 2 gives P(Q > t) <= t · exp(-(t² - 1) / 2), which is 8.3e-7 for t = 5.7.
///
/// A larger number of elements does not lower the threshold, because elements may share their roundings, as those of a
/// cumulative sum do. `tests/compare/precision_test.cpp` checks the constant against the formula.
inline constexpr double highest_honest_q = 5.7;

/// A computation in FP32 whose operations all round towards zero, as Direct3D allows (3.1.3), gives a larger Q for less
/// than one of 10^6 tensors. Each of the sums has results of the one before it among its terms.
///
/// Such an operation loses half a unit in the last place on average, which is the square root of 3 times the standard
/// deviation of rounding to nearest. How it differs from that average is what rounding to nearest differs by from 0, so
/// that highest_honest_q is the limit for it. The averages have one direction in the worst case. By Cauchy and Schwarz,
/// n roundings whose variances add up to sigma² lose at most √3·√n·sigma, whatever the share of each.
///
/// Roundings of terms t without a variance lose at most u·Σ|t|. As the partial sums in any order have a variance of at
/// least u²/3·(Σ|t|)²/2, that is √6·sigma.
///
/// Terms that have lost something pass it on. Either it is the same share of all terms, which the result then lacks as
/// if its own sum had lost it, or it differs from term to term, as independent errors do. Losses of sums add up.
[[nodiscard]] double highest_truncating_q(std::span<const core::RoundedSum> sums);

/// A graph may average what long sums have lost. That leaves the loss as it is, but divides independent errors, so that
/// the limit of all terms that reach an element is beyond any range. This number is not derived for graphs: it is the
/// limit of a sum of 344,000 terms.
inline constexpr double highest_truncating_q_of_graphs = 1024;

/// The errors of one or several outputs, in units of the standard deviation of an FP32 computation.
struct PrecisionStatistic {
    /// The number of usable elements: their standard deviation is known and not too small.
    std::uint64_t elements = 0;
    /// Sums over the usable elements: of (error/sigma)², and of error/sigma towards zero.
    double squares = 0;
    double towards_zero = 0;
    /// The number of different expected values, counted up to least_elements. Equal elements have equal errors.
    std::uint64_t different = 0;
    /// Significant bits of the most precise element, computed and expected.
    int bits = 0;
    int expected_bits = 0;

    void add(const PrecisionStatistic& other);
    /// True if there are enough elements and enough different ones for a meaningful Q.
    [[nodiscard]] bool can_tell() const;
    /// The root mean square of error/sigma; 0 without elements. About 0.7 for a sequential sum in FP32.
    [[nodiscard]] double q() const;
    /// The mean of error/sigma; positive means towards zero.
    [[nodiscard]] double bias() const;
    /// Whether operations seem to round towards zero: the errors are larger than those of rounding to nearest (Q is at
    /// least 1), and the bias is at least half of Q, and so large that by chance it is in less than one of 10^6 tensors
    /// with independent errors: exp(-b²·n/2) < 10^-6. Elements that share a rounding, as those of a normalised set do,
    /// have a bias by chance, but no such Q.
    [[nodiscard]] bool truncates() const;
};

/// The number of significant bits that are reached: those of the type, 24, or 11 for FLOAT16, minus the bits that Q
/// shows to be lost.
[[nodiscard]] double effective_bits(double q, core::DataType type);

/// Computes the statistic. `exact` is the reference's result, rounded once to its type. Empty if `slack` has no sigma,
/// or if the type is neither FLOAT32 nor FLOAT16.
[[nodiscard]] std::optional<PrecisionStatistic> precision_of(const core::Tensor& exact, const core::Tensor& actual,
                                                             const core::ElementSlack& slack);

/// How well another computation explains the errors of an output.
struct Explanation {
    /// Q of the other computation.
    double q = 0;
    /// The explained share of the squared errors: 1 if the errors are equal, 0 or less if they are unrelated.
    double share = 0;
};

[[nodiscard]] Explanation explanation_by(const core::Tensor& other, const core::Tensor& exact,
                                         const core::Tensor& actual, const core::ElementSlack& slack);

/// How well the errors are explained by one factor of all results.
struct Proportion {
    /// The factor minus 1: negative if results are too small.
    double off = 0;
    /// The explained share of the squared errors.
    double share = 0;
};

[[nodiscard]] Proportion proportion_of(const core::Tensor& exact, const core::Tensor& actual,
                                       const core::ElementSlack& slack);

}  // namespace dmlconform::compare

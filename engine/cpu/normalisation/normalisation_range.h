// What FP32 implementations may compute of a normalised element: a formula for one Interval, or for EightIntervals.
#pragma once

#include "engine/core/data_type.h"
#include "engine/core/floating_format.h"
#include "engine/cpu/eight_intervals.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/interval.h"
#include "engine/cpu/normalisation/formula.h"

namespace dmlconform::cpu::normalisation {

/// Infinite if there are no numbers.
[[nodiscard]] double largest_magnitude(const Interval& x);

/// The part of a range that is at most so far outside of another one; the range itself if partial results may overflow.
[[nodiscard]] Interval limited(Interval range, const Interval& together, double by);

#if DMLCONFORM_HAS_WIDE_REGISTERS
/// A number for each of the eight, so that the formula below is written once.
struct EightNumbers {
    Eight numbers;

    DMLCONFORM_EIGHT friend EightNumbers operator+(const EightNumbers& a, const EightNumbers& b) {
        return {a.numbers + b.numbers};
    }
    DMLCONFORM_EIGHT friend EightNumbers operator+(const EightNumbers& a, double b) { return {a.numbers + b}; }
    DMLCONFORM_EIGHT friend EightNumbers operator*(const EightNumbers& a, double b) { return {a.numbers * b}; }
};

DMLCONFORM_EIGHT inline EightNumbers largest_magnitude(const EightIntervals& x) {
    const Eight low = x.low < 0 ? -x.low : x.low;
    const Eight high = x.high < 0 ? -x.high : x.high;
    return {low < high ? high : low};
}

/// If partial results may overflow, the result is one that is not ordinary.
DMLCONFORM_EIGHT inline EightIntervals limited(const EightIntervals& range, const EightIntervals& together,
                                               const EightNumbers& by) {
    EightIntervals result = range;
    result.seen->note(by.numbers * 0x1p24);
    const Eight low = together.low - by.numbers;
    const Eight high = together.high + by.numbers;
    result.low = range.low < low ? low : range.low;
    result.high = high < range.high ? high : range.high;
    return result;
}
#endif

/// An element normalised in FP32, with a mean and a variance that may have errors.
template <class Number>
class NormalisationRangeOf {
public:
    NormalisationRangeOf() = default;
    NormalisationRangeOf(const Number& mean, const Number& rstd, const Number& scale, const Number& bias)
        : mean_(mean),
          rstd_(rstd),
          scale_(scale),
          bias_(bias),
          factor_(scale * rstd),
          of_mean_(hull(factor_ * mean, (scale * mean) * rstd)),
          shift_(bias - of_mean_) {}

    /// The same for each of eight elements. It must be ordinary.
    template <class Other>
    explicit NormalisationRangeOf(const NormalisationRangeOf<Other>& one)
        : mean_(one.mean_),
          rstd_(one.rstd_),
          scale_(one.scale_),
          bias_(one.bias_),
          factor_(one.factor_),
          of_mean_(one.of_mean_),
          shift_(one.shift_) {}

    /// Computed as documented, or folded.
    [[nodiscard]] Number operator()(const Number& x) const { return as_documented_or_folded(x, centred(x)); }
    /// Measured on DirectML 1.15.4: the addend may be stored as a tensor of that type.
    [[nodiscard]] Number operator()(const Number& x, const Number& added, core::DataType type) const {
        const Centred centred = this->centred(x);
        return hull(maybe_stored(type, as_documented_or_folded(x, centred)) + added, scaled(centred) + (bias_ + added));
    }

    /// Whether the parameters are ordinary numbers of EightIntervals.
    [[nodiscard]] bool are_ordinary() const {
        bool result = true;
        for (const Number* x : {&mean_, &rstd_, &scale_, &bias_, &factor_, &of_mean_, &shift_}) {
            result = result && is_ordinary(*x);
        }
        return result;
    }

private:
    template <class Other>
    friend class NormalisationRangeOf;

    /// What both ways to compute an element begin with.
    struct Centred {
        Number distance;
        Number by_factor;
    };

    [[nodiscard]] Centred centred(const Number& x) const {
        const Number distance = x - mean_;
        return {distance, factor_ * distance};
    }

    /// scale * (x - mean) * rstd, in any order: product(scale, x - mean, rstd).
    [[nodiscard]] Number scaled(const Centred& x) const {
        return hull(hull((scale_ * x.distance) * rstd_, scale_ * (x.distance * rstd_)), x.by_factor);
    }

    [[nodiscard]] Number as_documented_or_folded(const Number& x, const Centred& centred) const {
        return hull(scaled(centred) + bias_, folded(x, centred));
    }

    /// factor * x + (bias - factor * mean), as many implementations compute it. Measured on DirectML 1.15.4: it does.
    ///
    /// Factor and mean are the same in both products, so that their errors cancel as in factor * (x - mean) + bias.
    /// What is left are the roundings of the two products and of their difference from the bias, unless something
    /// overflows. Measured on DirectML 1.15.4: the mean is multiplied by the scale first.
    [[nodiscard]] Number folded(const Number& x, const Centred& centred) const {
        const Number of_x = factor_ * x;
        return limited(of_x + shift_, centred.by_factor + bias_,
                       (largest_magnitude(of_x) + largest_magnitude(of_mean_) + largest_magnitude(shift_)) *
                               core::float32.one_rounding +
                           3 * core::float32.smallest_normal);
    }

    Number mean_;
    Number rstd_;
    Number scale_;
    Number bias_;
    /// scale * rstd, its product with the mean, and what is added to its product with an element.
    Number factor_;
    Number of_mean_;
    Number shift_;
};

using NormalisationRange = NormalisationRangeOf<Interval>;

}  // namespace dmlconform::cpu::normalisation

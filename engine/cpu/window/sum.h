// Sums over windows: the value and, if bounds are wanted, the range of what FP32 may compute.
#pragma once

#include "engine/cpu/reduction/totals.h"

namespace dmlconform::cpu::window {

/// A sum without bounds.
struct PlainSum {
    double value = 0;

    template <class Range>
    void add(double term, const Range& /*range*/) {
        value += term;
    }
    [[nodiscard]] Interval range() const { return value; }
};

/// A sum with bounds for all orders of the terms.
struct BoundedSum {
    double value = 0;
    reduction::SumRange bounds = {};

    /// range() is the FP32 range of the term.
    template <class Range>
    void add(double term, const Range& range) {
        value += term;
        bounds.add(range());
    }
    [[nodiscard]] Interval range() const { return bounds.result(); }
};

/// Calls use.template operator()<Sum>() with the kind of sum that is needed.
template <class Use>
void with_sum(bool bounded, Use&& use) {
    if (bounded) {
        use.template operator()<BoundedSum>();
    } else {
        use.template operator()<PlainSum>();
    }
}

/// Rounds to FP32.
[[nodiscard]] inline Interval in_fp32(double value) {
    return Interval(value) + Interval(0);
}

/// A sum divided by a count, or multiplied by the count's reciprocal.
[[nodiscard]] inline Interval divided(const Interval& sum, double count) {
    const Interval divisor = in_fp32(count);
    return hull(sum / divisor, sum * (Interval(1) / divisor));
}

}  // namespace dmlconform::cpu::window

// Sums of what windows see: the value, and where bounds are wanted what FP32 may have instead.
#pragma once

#include "engine/cpu/reduction/totals.h"

namespace dmlconform::cpu::window {

/// Without bounds.
struct PlainSum {
    double value = 0;

    template <class Range>
    void add(double term, const Range& /*range*/) {
        value += term;
    }
    [[nodiscard]] Interval range() const { return value; }
};

/// With bounds: of all orders in which the terms may be added.
struct BoundedSum {
    double value = 0;
    reduction::SumRange bounds = {};

    /// range() is what FP32 may have for the term.
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

/// As FP32 holds it.
[[nodiscard]] inline Interval in_fp32(double value) {
    return Interval(value) + Interval(0);
}

/// A sum over a count, or times the count's reciprocal.
[[nodiscard]] inline Interval divided(const Interval& sum, double count) {
    const Interval divisor = in_fp32(count);
    return hull(sum / divisor, sum * (Interval(1) / divisor));
}

}  // namespace dmlconform::cpu::window

// The two number types for operators that consist of products and functions: doubles give the values, intervals give
// what implementations may return.
//
// Implementations accumulate in FP32. Operators on FLOAT16 may store intermediate results as FLOAT16: the parts of a
// sum, their sums, and results of functions. DirectML 1.15.4 stores some of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/reduction/totals.h"

namespace dmlconform::cpu::composition {

class ExactSum {
public:
    /// Starts a new part of the sum. Parts may be stored before they are added.
    void begin_part() {}
    void add(double term) { value_ += term; }
    void add_product(double a, double b) { value_ += a * b; }
    void add_products(std::span<const double> factors, std::span<const double> numbers) {
        // The number of lanes suits vector registers.
        std::array<double, 8> lanes{};
        std::size_t i = 0;
        for (; i + lanes.size() <= factors.size(); i += lanes.size()) {
            for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
                lanes[lane] += factors[i + lane] * numbers[i + lane];
            }
        }
        for (; i < factors.size(); ++i) {
            lanes[i % lanes.size()] += factors[i] * numbers[i];
        }
        value_ += ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    }
    [[nodiscard]] double result() const { return value_; }

private:
    double value_ = 0;
};

/// Bounds of a sum whose terms are added in any order, or whose parts are summed one by one.
class SumBounds {
public:
    explicit SumBounds(bool half) : half_(half) {}

    void begin_part();
    void add(const Interval& term);
    void add_product(const Interval& a, const Interval& b) { add(a * b); }
    /// The terms are products of two lists, of which at least one has exact numbers.
    template <class Number>
    void add_products(std::span<const double> factors, std::span<const Number> numbers) {
        for (std::size_t i = 0; i < factors.size(); ++i) {
            add_product(factors[i], numbers[i]);
        }
    }
    [[nodiscard]] Interval result() const;

private:
    /// Totals of the completed parts.
    struct Parts {
        /// Upper bounds for the magnitudes of their positive and negative ends.
        double positive = 0;
        double negative = 0;
        double count = 0;
        /// Value and variance of the sum of all parts, and the variance that storing the parts and their sums as
        /// FLOAT16 adds.
        double value = 0;
        double variance = 0;

        void add(const Interval& part);
    };

    bool half_;
    reduction::SumRange all_ = {};
    reduction::SumRange part_ = {};
    bool part_is_empty_ = true;
    Parts parts_ = {};
};

struct Exact {
    using Number = double;
    using Sum = ExactSum;

    [[nodiscard]] ExactSum sum() const { return {}; }
    /// The number converted to the operator's type, if implementations store it.
    [[nodiscard]] double stored(double x) const { return x; }
    /// The number for the next step of a recurrence. Numbers beyond every type's range are clamped, so that they cannot
    /// become infinite doubles: the difference of two of those would be NaN. Products are not, because two of them that
    /// are clamped would cancel to 0.
    [[nodiscard]] double carried(double x) const {
        constexpr double far_out = 1e100;
        return std::isinf(x) ? x : std::clamp(x, -far_out, far_out);
    }
    /// The result of either of two ways to compute a number.
    [[nodiscard]] double either(double one, double /*other*/) const { return one; }
};

struct Bounded {
    using Number = Interval;
    using Sum = SumBounds;

    /// True if the operator's type is FLOAT16.
    bool half = false;

    [[nodiscard]] SumBounds sum() const { return SumBounds(half); }
    [[nodiscard]] Interval stored(const Interval& x) const;
    [[nodiscard]] Interval carried(const Interval& x) const { return stored(x); }
    [[nodiscard]] Interval either(const Interval& one, const Interval& other) const { return hull(one, other); }
};

}  // namespace dmlconform::cpu::composition

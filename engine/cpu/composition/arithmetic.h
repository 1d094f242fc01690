// The two kinds of numbers that operators made of products and functions are computed in: doubles, which give the
// values, and intervals, which give what implementations may have.
//
// An implementation accumulates in FP32. Operators on FLOAT16 may store as FLOAT16 what their formulas name: the parts
// of a sum, their sums, and results of functions. DirectML 1.15.4 stores some of them so.
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
    /// What comes now is a part of its own, which may be stored before parts are added.
    void begin_part() {}
    void add(double term) { value_ += term; }
    void add_product(double a, double b) { value_ += a * b; }
    void add_products(std::span<const double> factors, std::span<const double> numbers) {
        // As many running sums as vector registers like.
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

/// What a sum may come to: its terms in any order, or its parts one by one.
class SumBounds {
public:
    explicit SumBounds(bool half) : half_(half) {}

    void begin_part();
    void add(const Interval& term);
    void add_product(const Interval& a, const Interval& b) { add(a * b); }
    /// Two lists of which at least one has exact numbers.
    template <class Number>
    void add_products(std::span<const double> factors, std::span<const Number> numbers) {
        for (std::size_t i = 0; i < factors.size(); ++i) {
            add_product(factors[i], numbers[i]);
        }
    }
    [[nodiscard]] Interval result() const;

private:
    void end_part(Interval part, double& positive, double& negative, double& count) const;

    bool half_;
    reduction::SumRange all_ = {};
    reduction::SumRange part_ = {};
    bool part_is_empty_ = true;
    /// Of the parts that are complete: the largest magnitudes that their positive and negative ends may have.
    double positive_ = 0;
    double negative_ = 0;
    double count_ = 0;
};

struct Exact {
    using Number = double;
    using Sum = ExactSum;

    [[nodiscard]] ExactSum sum() const { return {}; }
    /// The number in the operator's type, if it is stored. What lies beyond every type must not grow until doubles are
    /// infinite: the difference of two such numbers would be NaN.
    [[nodiscard]] double stored(double x) const {
        constexpr double far_out = 1e100;
        return std::isinf(x) ? x : std::clamp(x, -far_out, far_out);
    }
    /// Two ways to compute a number.
    [[nodiscard]] double either(double one, double /*other*/) const { return one; }
};

struct Bounded {
    using Number = Interval;
    using Sum = SumBounds;

    /// Whether the operator is on FLOAT16.
    bool half = false;

    [[nodiscard]] SumBounds sum() const { return SumBounds(half); }
    [[nodiscard]] Interval stored(const Interval& x) const;
    [[nodiscard]] Interval either(const Interval& one, const Interval& other) const { return hull(one, other); }
};

}  // namespace dmlconform::cpu::composition

// Intervals of the numbers that an FP32 implementation may have after each step of a formula, if it meets Direct3D's
// guarantees.
//
// Evaluating a formula on intervals gives the operator's tolerance: every number in the resulting interval is the
// result of some legal implementation. interval.cpp lists how much each operation widens an interval, and who
// guarantees that.
//
// Besides the range, which covers the worst case, each interval has the expected error of the simplest implementation:
// see expected_error.h. Operands are treated as independent. If they are not, the variance is approximate: x - x has
// twice the variance of x instead of none, and x * x has half of the correct one, which is a factor of 1.4 in the
// expected error.
#pragma once

#include <limits>
#include <string>

namespace dmlconform::cpu {

/// The numbers from low to high, including infinities, and optionally NaN. If there are no numbers, low is greater than
/// high. A finite end beyond FP32's range stands for an intermediate result that may or may not have overflowed.
struct Interval {
    double low = 0;
    double high = 0;
    bool nan = false;
    /// The exact value as a double, and the variance of the expected error. The variance is infinite or NaN if it is
    /// unknown. The value may be outside the range after code has changed the ends.
    double value = 0;
    double variance = 0;

    /// The variance of an unknown error.
    static constexpr double unknown = std::numeric_limits<double>::infinity();

    Interval() = default;
    /// A single number, or NaN.
    Interval(double number);  // NOLINT(google-explicit-constructor): formulas mix numbers and intervals
    /// Assumes that errors are uniformly distributed in the range.
    Interval(double from, double to, bool or_nan);
    Interval(double from, double to, bool or_nan, double exact, double its_variance)
        : low(from), high(to), nan(or_nan), value(exact), variance(its_variance) {}

    [[nodiscard]] bool has_numbers() const { return low <= high; }
    [[nodiscard]] bool contains(double number) const;
    /// The same range with another exact value and variance.
    [[nodiscard]] Interval with_expected(double exact, double its_variance) const {
        return {low, high, nan, exact, its_variance};
    }
};

/// The standard deviation of the expected error, at most half the range's width. 0 if the range is a single number, or
/// if the error is unknown.
[[nodiscard]] double expected_error(const Interval& x);

/// The possible results of a comparison.
struct Choice {
    bool may_hold = false;
    bool may_fail = false;
    /// Whether the comparison holds for the exact values, and whether implementations are expected to agree, because
    /// the values differ by more than their expected errors.
    bool holds = may_hold && !may_fail;
    bool is_clear = may_hold != may_fail;

    friend Choice operator!(Choice a) { return {a.may_fail, a.may_hold, !a.holds, a.is_clear}; }
    friend Choice operator&&(Choice a, Choice b) {
        return {a.may_hold && b.may_hold, a.may_fail || b.may_fail, a.holds && b.holds,
                (a.is_clear && b.is_clear) || (a.is_clear && !a.holds) || (b.is_clear && !b.holds)};
    }
    friend Choice operator||(Choice a, Choice b) { return !(!a && !b); }
};

/// The result of either of two ways to compute a number: the value of the first, and the larger variance.
[[nodiscard]] Interval hull(const Interval& a, const Interval& b);

// Arithmetic and functions as in shaders. Subnormal operands and results may be flushed to zero.
[[nodiscard]] Interval operator-(const Interval& a);
[[nodiscard]] Interval operator+(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator-(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator*(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator/(const Interval& a, const Interval& b);

[[nodiscard]] Choice operator<(const Interval& a, const Interval& b);
[[nodiscard]] Choice operator<=(const Interval& a, const Interval& b);
[[nodiscard]] inline Choice operator>(const Interval& a, const Interval& b) {
    return b < a;
}
[[nodiscard]] inline Choice operator>=(const Interval& a, const Interval& b) {
    return b <= a;
}
[[nodiscard]] Choice operator==(const Interval& a, const Interval& b);

/// `yes` if the choice may hold, `no` if it may fail, and the hull of both if either is possible. Unless the choice is
/// clear, the difference of the two values counts as an error.
[[nodiscard]] Interval select(Choice choice, const Interval& a, const Interval& b);

[[nodiscard]] Choice is_nan(const Interval& x);
[[nodiscard]] Choice is_infinite(const Interval& x);

[[nodiscard]] Interval abs(const Interval& x);
/// Returns the other operand if one is NaN, as in Direct3D.
[[nodiscard]] Interval min(const Interval& a, const Interval& b);
[[nodiscard]] Interval max(const Interval& a, const Interval& b);
[[nodiscard]] Interval floor(const Interval& x);
[[nodiscard]] Interval ceil(const Interval& x);
[[nodiscard]] Interval trunc(const Interval& x);
[[nodiscard]] Interval round_half_even(const Interval& x);
/// An integer that becomes FP32, which has those of 24 bits exactly.
[[nodiscard]] Interval integer_in_fp32(const Interval& x);
[[nodiscard]] Interval round_half_away(const Interval& x);
[[nodiscard]] Interval sqrt(const Interval& x);
[[nodiscard]] Interval exp(const Interval& x);
/// exp(x) - 1
[[nodiscard]] Interval expm1(const Interval& x);
[[nodiscard]] Interval log(const Interval& x);
/// log(1 + x)
[[nodiscard]] Interval log1p(const Interval& x);
/// x itself, with the error of scaling it for exp2 and back.
[[nodiscard]] Interval through_base_2(const Interval& x);
[[nodiscard]] Interval pow(const Interval& base, const Interval& exponent);
[[nodiscard]] Interval sin(const Interval& x);
[[nodiscard]] Interval cos(const Interval& x);
[[nodiscard]] Interval tan(const Interval& x);
[[nodiscard]] Interval asin(const Interval& x);
[[nodiscard]] Interval acos(const Interval& x);
[[nodiscard]] Interval atan(const Interval& x);
[[nodiscard]] Interval atan2(const Interval& y, const Interval& x);
[[nodiscard]] Interval sinh(const Interval& x);
[[nodiscard]] Interval cosh(const Interval& x);
[[nodiscard]] Interval tanh(const Interval& x);
[[nodiscard]] Interval asinh(const Interval& x);
[[nodiscard]] Interval acosh(const Interval& x);
[[nodiscard]] Interval atanh(const Interval& x);
[[nodiscard]] Interval erf(const Interval& x);

/// While it exists, records which operations widen intervals on this thread, to explain a tolerance.
class IntervalHistory {
public:
    IntervalHistory();
    IntervalHistory(const IntervalHistory&) = delete;
    IntervalHistory& operator=(const IntervalHistory&) = delete;
    ~IntervalHistory();

    /// For example "exp: 2^-21 relative; +: one rounding", in the order of first use. Empty if nothing was rounded.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    friend struct IntervalNotes;
    std::string text_;
    IntervalHistory* outer_;
};

}  // namespace dmlconform::cpu

// What an implementation in FP32 may have after each step of a formula, if it keeps to what Direct3D guarantees.
//
// A formula that is evaluated on intervals gives the operator's tolerance: every number in the resulting interval is
// what some legal implementation computes. How much each operation widens an interval, and who guarantees that, is the
// table in interval.cpp.
#pragma once

#include <string>

namespace dmlconform::cpu {

/// The numbers from low to high, infinities included, and maybe NaN. Without any number, low is greater than high. An
/// end that is finite but beyond FP32's range stands for an intermediate result that may or may not have overflowed.
struct Interval {
    double low = 0;
    double high = 0;
    bool nan = false;

    Interval() = default;
    /// One number, or NaN.
    Interval(double value);  // NOLINT(google-explicit-constructor): formulas mix numbers and intervals
    Interval(double from, double to, bool or_nan) : low(from), high(to), nan(or_nan) {}

    [[nodiscard]] bool has_numbers() const { return low <= high; }
    [[nodiscard]] bool contains(double value) const;
};

/// What a comparison may come to.
struct Choice {
    bool may_hold = false;
    bool may_fail = false;

    friend Choice operator!(Choice a) { return {a.may_fail, a.may_hold}; }
    friend Choice operator&&(Choice a, Choice b) { return {a.may_hold && b.may_hold, a.may_fail || b.may_fail}; }
    friend Choice operator||(Choice a, Choice b) { return {a.may_hold || b.may_hold, a.may_fail && b.may_fail}; }
};

[[nodiscard]] Interval hull(const Interval& a, const Interval& b);

// + - * / and functions as shaders have them: operands and results that may be subnormal may be zero instead.
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

/// The first where the choice may hold, the second where it may fail: both if either may be.
[[nodiscard]] Interval select(Choice choice, const Interval& a, const Interval& b);

[[nodiscard]] Choice is_nan(const Interval& x);
[[nodiscard]] Choice is_infinite(const Interval& x);

[[nodiscard]] Interval abs(const Interval& x);
/// The other one if one is NaN, as Direct3D has it.
[[nodiscard]] Interval min(const Interval& a, const Interval& b);
[[nodiscard]] Interval max(const Interval& a, const Interval& b);
[[nodiscard]] Interval floor(const Interval& x);
[[nodiscard]] Interval ceil(const Interval& x);
[[nodiscard]] Interval trunc(const Interval& x);
[[nodiscard]] Interval round_half_even(const Interval& x);
[[nodiscard]] Interval round_half_away(const Interval& x);
[[nodiscard]] Interval sqrt(const Interval& x);
[[nodiscard]] Interval exp(const Interval& x);
/// exp(x) - 1
[[nodiscard]] Interval expm1(const Interval& x);
[[nodiscard]] Interval log(const Interval& x);
/// log(1 + x)
[[nodiscard]] Interval log1p(const Interval& x);
/// x itself, which a shader may have scaled for exp2 and back.
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

/// While it lives, notes what widens intervals on this thread: where a tolerance comes from.
class IntervalHistory {
public:
    IntervalHistory();
    IntervalHistory(const IntervalHistory&) = delete;
    IntervalHistory& operator=(const IntervalHistory&) = delete;
    ~IntervalHistory();

    /// "exp: 2^-21 relative; +: one rounding", in the order of first use; empty where nothing was rounded.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    friend struct IntervalNotes;
    std::string text_;
    IntervalHistory* outer_;
};

}  // namespace dmlconform::cpu

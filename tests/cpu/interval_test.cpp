// Tests of engine/cpu/interval: intervals contain what Direct3D allows, and not much more.
#include "engine/cpu/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace dmlconform::cpu::interval_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double most = std::numeric_limits<float>::max();
constexpr double ulp_at_one = 0x1p-23;
constexpr double subnormal = 0x1p-130;
constexpr double least = 0x1p-149;

Interval from(double low, double high) {
    return {low, high, false};
}

std::string text_of(const Interval& x) {
    return "[" + std::to_string(x.low) + ", " + std::to_string(x.high) + "]" + (x.nan ? " or NaN" : "");
}

struct Exactly {
    std::string what;
    Interval result;
    Interval expected;
};

void expect_all(const std::vector<Exactly>& cases) {
    for (const auto& [what, result, expected] : cases) {
        EXPECT_EQ(result.nan, expected.nan) << what << " is " << text_of(result);
        ASSERT_EQ(result.has_numbers(), expected.has_numbers()) << what << " is " << text_of(result);
        if (expected.has_numbers()) {
            EXPECT_EQ(result.low, expected.low) << what << " is " << text_of(result);
            EXPECT_EQ(result.high, expected.high) << what << " is " << text_of(result);
        }
    }
}

const Interval only_nan(not_a_number);
const Interval anything(-inf, inf, true);

TEST(Interval, ANumberOrNaN) {
    EXPECT_TRUE(Interval(1).contains(1));
    EXPECT_FALSE(Interval(1).contains(std::nextafter(1, 2)));
    EXPECT_FALSE(Interval(1).contains(not_a_number));
    EXPECT_FALSE(only_nan.has_numbers());
    EXPECT_TRUE(only_nan.contains(not_a_number));
    EXPECT_FALSE(only_nan.contains(0));
    EXPECT_TRUE(anything.contains(inf));
    expect_all({{"hull", hull(from(1, 2), Interval(5)), from(1, 5)},
                {"hull with NaN", hull(from(1, 2), only_nan), {1, 2, true}},
                {"hull of NaN", hull(only_nan, only_nan), only_nan}});
}

TEST(Interval, Sums) {
    expect_all({
        {"1 + 1", Interval(1) + 1, 2},
        {"1 + 2^-24", Interval(1) + 0x1p-24, from(1, 1 + ulp_at_one)},
        {"1 - 2^-25", Interval(1) - 0x1p-25, from(1 - ulp_at_one / 2, 1)},
        {"1 + 2^-100, beyond 53 bits", Interval(1) + 0x1p-100, from(1, 1 + ulp_at_one)},
        {"1 - 2^-100", Interval(1) - 0x1p-100, from(1 - ulp_at_one / 2, 1)},
        {"[1, 2] + [10, 20]", from(1, 2) + from(10, 20), from(11, 22)},
        {"[1, 2] - [10, 20]", from(1, 2) - from(10, 20), from(-19, -8)},
        {"inf + 1", Interval(inf) + 1, inf},
        {"inf - inf", Interval(inf) - inf, only_nan},
        {"-inf + inf", Interval(-inf) + inf, only_nan},
        {"[0, inf] - [0, inf]", from(0, inf) - from(0, inf), anything},
        {"[0, inf] + [0, inf]", from(0, inf) + from(0, inf), from(0, inf)},
        {"NaN + 1", only_nan + 1, only_nan},
        {"[1, 2] or NaN, + 1", Interval(1, 2, true) + 1, {2, 3, true}},
        {"the greatest + itself", Interval(most) + most, from(2 * most, inf)},
        {"the greatest + half a unit in the last place", Interval(most) + 0x1p103, from(most, inf)},
        {"the lowest - half a unit in the last place", Interval(-most) - 0x1p103, from(-inf, -most)},
        {"a subnormal + 0", Interval(subnormal) + 0, from(0, subnormal)},
        {"a negative subnormal + 0", Interval(-subnormal) + 0, from(-subnormal, 0)},
        {"a subnormal may be lost on the way in", Interval(0x1p-126 - least) + 0x1p-126,
         from(0x1p-126, 0x1p-125 - least)},
        {"normal numbers with a subnormal difference", Interval(0x1.8p-126) - 0x1p-126, from(0, 0x1p-127)},
    });
}

/// What a product of doubles that are FP32 numbers is rounded to, as the C library's function finds it.
TEST(Interval, EndsAreTheNearestNumbersAround) {
    std::mt19937 random(20261126);
    std::uniform_real_distribution<float> mantissa(-2, 2);
    std::uniform_int_distribution<int> exponent(-60, 60);
    for (int i = 0; i < 100'000; ++i) {
        const float a = std::ldexp(mantissa(random), exponent(random));
        const float b = std::ldexp(mantissa(random), exponent(random));
        const double exact = double{a} * double{b};
        const auto nearest = static_cast<float>(exact);
        const float below = nearest > exact ? std::nextafter(nearest, -INFINITY) : nearest;
        const float above = nearest < exact ? std::nextafter(nearest, INFINITY) : nearest;
        const Interval product = Interval(a) * Interval(b);
        if (std::fabs(exact) > 0x1p-120) {
            ASSERT_EQ(product.low, double{below}) << a << " * " << b;
            ASSERT_EQ(product.high, double{above}) << a << " * " << b;
        }
    }
}

TEST(Interval, Products) {
    expect_all({
        {"3 * 5", Interval(3) * 5, 15},
        {"(1 + 2^-23)^2", Interval(1 + ulp_at_one) * (1 + ulp_at_one), from(1 + 2 * ulp_at_one, 1 + 3 * ulp_at_one)},
        {"[-2, 3] * [-5, 7]", from(-2, 3) * from(-5, 7), from(-15, 21)},
        {"0 * inf", Interval(0) * inf, only_nan},
        {"[0, 1] * [1, inf]", from(0, 1) * from(1, inf), {0, inf, true}},
        {"[-1, 1] * inf: zero is between the ends", from(-1, 1) * inf, anything},
        {"[1, inf] * [-1, 1]", from(1, inf) * from(-1, 1), anything},
        {"a subnormal * inf", Interval(subnormal) * inf, {inf, inf, true}},
        {"[1, 2] * inf", from(1, 2) * inf, inf},
        {"2^100 * 2^100", Interval(0x1p100) * 0x1p100, from(0x1p200, inf)},
        {"2^-100 * 2^-100", Interval(0x1p-100) * 0x1p-100, from(0, least)},
        {"-2^-100 * 2^-100", Interval(-0x1p-100) * 0x1p-100, from(-least, 0)},
        {"NaN * 0", only_nan * 0, only_nan},
        {"0 * [-inf, inf]: between the ends are numbers", Interval(0) * from(-inf, inf), {0, 0, true}},
        {"[-inf, inf] * 0", from(-inf, inf) * 0, {0, 0, true}},
    });
}

TEST(Interval, Quotients) {
    const double third = 1.0f / 3.0f;  // the nearest FP32 number, which is above 1/3
    expect_all({
        {"1 / 3", Interval(1) / 3, from(third - 0x1p-25, third)},
        {"6 / 2", Interval(6) / 2, from(3 - 0x1p-22, 3 + 0x1p-22)},
        {"1 / 0", Interval(1) / 0, inf},
        {"1 / -0", Interval(1) / -0.0, -inf},
        {"0 / 0", Interval(0) / 0, only_nan},
        {"inf / inf", Interval(inf) / inf, only_nan},
        {"1 / [-1, 1]", Interval(1) / from(-1, 1), from(-inf, inf)},
        {"[0, 1] / [-1, 1]", from(0, 1) / from(-1, 1), anything},
        {"inf / [-1, inf]", Interval(inf) / from(-1, inf), anything},
        {"[-1, 1] / [0, 1]: zero is between the ends", from(-1, 1) / from(0, 1), anything},
        {"1 / a subnormal", Interval(1) / 0x1p-128, from(0x1p128 - 0x1p105, inf)},
        {"2^-20 / a subnormal, which may be zero", Interval(0x1p-20) / 0x1p-130, from(0x1p110 - 0x1p87, inf)},
        {"1 / NaN", Interval(1) / only_nan, only_nan},
        {"[-inf, inf] / inf: between the ends are numbers", from(-inf, inf) / inf, {-least, least, true}},
    });
}

TEST(Interval, Comparisons) {
    struct Case {
        std::string what;
        Choice choice;
        bool may_hold;
        bool may_fail;
    };
    const std::vector<Case> cases{
        {"1 < 2", Interval(1) < 2, true, false},
        {"2 < 1", Interval(2) < 1, false, true},
        {"1 < 1", Interval(1) < 1, false, true},
        {"1 <= 1", Interval(1) <= 1, true, false},
        {"1 >= 1", Interval(1) >= 1, true, false},
        {"[1, 3] < 2", from(1, 3) < 2, true, true},
        {"[1, 3] <= 3", from(1, 3) <= 3, true, false},
        {"[1, 3] > 3", from(1, 3) > 3, false, true},
        {"[1, 3] == 3", from(1, 3) == 3, true, true},
        {"3 == 3", Interval(3) == 3, true, false},
        {"3 == 4", Interval(3) == 4, false, true},
        {"NaN == NaN", only_nan == only_nan, false, true},
        {"NaN < 1", only_nan < 1, false, true},
        {"[1, 2] or NaN, < 3", Interval(1, 2, true) < 3, true, true},
        {"inf == inf", Interval(inf) == inf, true, false},
        {"a subnormal > 0", Interval(subnormal) > 0, true, true},
        {"a subnormal == 0", Interval(subnormal) == 0, true, true},
        {"-0 == 0", Interval(-0.0) == 0, true, false},
        {"NaN is NaN", is_nan(only_nan), true, false},
        {"1 is NaN", is_nan(1), false, true},
        {"[1, 2] or NaN is NaN", is_nan({1, 2, true}), true, true},
        {"inf is infinite", is_infinite(inf), true, false},
        {"[1, inf] is infinite", is_infinite(from(1, inf)), true, true},
        {"the greatest is infinite", is_infinite(most), false, true},
        {"NaN is infinite", is_infinite(only_nan), false, true},
        {"not", !(Interval(1) < 2), false, true},
        {"and", from(1, 3) < 2 && Interval(1) < 2, true, true},
        {"and, one fails", from(1, 3) < 2 && Interval(2) < 1, false, true},
        {"or, one holds", from(1, 3) < 2 || Interval(1) < 2, true, false},
        {"or", from(1, 3) < 2 || Interval(2) < 1, true, true},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(c.choice.may_hold, c.may_hold) << c.what;
        EXPECT_EQ(c.choice.may_fail, c.may_fail) << c.what;
    }
}

TEST(Interval, BranchesAndSteps) {
    expect_all({
        {"the branch that holds", select(Interval(1) < 2, 10, 20), 10},
        {"the branch that does not", select(Interval(2) < 1, 10, 20), 20},
        {"both where either may be", select(from(1, 3) < 2, 10, 20), from(10, 20)},
        {"|[-3, 2]|", abs(from(-3, 2)), from(0, 3)},
        {"|[-3, -2]|", abs(from(-3, -2)), from(2, 3)},
        {"min([1, 4], [2, 3])", min(from(1, 4), from(2, 3)), from(1, 3)},
        {"max([1, 4], [2, 3])", max(from(1, 4), from(2, 3)), from(2, 4)},
        {"min(NaN, 2)", min(only_nan, 2), 2},
        {"max(2, NaN)", max(2, only_nan), 2},
        {"min(NaN, NaN)", min(only_nan, only_nan), only_nan},
        {"min([1, 2] or NaN, 5)", min({1, 2, true}, 5), from(1, 5)},
        {"max([1, 2] or NaN, -5)", max({1, 2, true}, -5), from(-5, 2)},
        {"min([1, 2] or NaN, [0, 5] or NaN)", min({1, 2, true}, {0, 5, true}), {0, 5, true}},
        {"floor([0.5, 2.5])", floor(from(0.5, 2.5)), from(0, 2)},
        {"ceil([0.5, 2.5])", ceil(from(0.5, 2.5)), from(1, 3)},
        {"ceil of a subnormal", ceil(subnormal), from(0, 1)},
        {"floor of a negative subnormal", floor(-subnormal), from(-1, 0)},
        {"trunc([-1.5, 1.5])", trunc(from(-1.5, 1.5)), from(-1, 1)},
        {"round_half_even(2.5)", round_half_even(2.5), 2},
        {"round_half_away(2.5)", round_half_away(2.5), 3},
        {"round_half_even(NaN)", round_half_even(only_nan), only_nan},
    });
}

TEST(Interval, EndsOfFunctions) {
    expect_all({
        {"sqrt(4)", sqrt(4), from(2 - ulp_at_one * 2, 2 + ulp_at_one * 2)},
        {"sqrt(2), 1.41421356", sqrt(2), from(0x1.6a09e6p0, 0x1.6a09e8p0)},
        {"sqrt(-1)", sqrt(-1), only_nan},
        {"sqrt(inf)", sqrt(inf), inf},
        {"exp(-inf)", exp(-inf), 0},
        {"exp(inf)", exp(inf), inf},
        {"exp(NaN)", exp(only_nan), only_nan},
        {"log(0)", log(0), -inf},
        {"log(-1)", log(-1), only_nan},
        {"log(inf)", log(inf), inf},
        {"x^0", pow(-3, 0), 1},
        {"(-inf)^0.5, which IEEE 754 and exp2(y * log2(x)) differ in", pow(-inf, 0.5), {inf, inf, true}},
        {"(-8)^(1/3)", pow(-8, 1.0 / 3), only_nan},
        {"NaN^2", pow(only_nan, 2), only_nan},
        {"sin(inf)", sin(inf), only_nan},
        {"cos(-inf)", cos(-inf), only_nan},
        {"asin(2)", asin(2), only_nan},
        {"acos(-2)", acos(-2), only_nan},
        {"acosh(0)", acosh(0), only_nan},
        {"acosh(inf)", acosh(inf), inf},
        {"asinh(-inf)", asinh(-inf), -inf},
        {"atanh(2)", atanh(2), only_nan},
        {"atanh(1)", atanh(1), inf},
        {"sinh(-inf)", sinh(-inf), -inf},
        {"cosh(inf)", cosh(inf), inf},
    });
    EXPECT_TRUE(sqrt(from(-1, 4)).nan);
    EXPECT_TRUE(log(from(-1, 4)).contains(-inf));
    EXPECT_TRUE(log(subnormal).contains(-inf)) << "it may count as zero";
    EXPECT_TRUE(pow(-8, inf).contains(inf)) << "infinity is even";
    EXPECT_FALSE(pow(-8, inf).contains(-inf));
    EXPECT_TRUE(pow(-0.0, -1).contains(-inf));
    EXPECT_FALSE(pow(0, -1).contains(-inf));
    EXPECT_FALSE(pow(-0.0, 0.5).nan);
    EXPECT_TRUE(pow(-8, 3).contains(-512));
    EXPECT_FALSE(pow(-8, 3).contains(512));
    EXPECT_TRUE(pow(-8, 2).contains(64));
    EXPECT_FALSE(pow(-8, 2).nan);
    EXPECT_TRUE(pow(-8, from(1.9, 3.1)).contains(-512)) << "an exponent that may be 3";
    EXPECT_TRUE(pow(-8, from(1.9, 3.1)).nan) << "or 2.5";
    EXPECT_TRUE(atan2(from(-1, 1), -1).contains(-std::numbers::pi)) << "both sides of the cut";
}

/// A function's interval, the exact value, and the guaranteed error bound of implementations.
struct Guarantee {
    std::string what;
    Interval result;
    double exact;
    double error;
};

/// An error of the guaranteed size is accepted, a much larger one is not.
TEST(Interval, AsWideAsWhatIsGuaranteed) {
    const double relative = 0x1p-21;
    const double sine = 0.0008;
    const std::vector<Guarantee> cases{
        {"exp(1)", exp(1), std::exp(1), std::exp(1) * relative},
        {"exp(-2)", exp(-2), std::exp(-2), std::exp(-2) * (relative + 2 * 0x1p-23)},
        {"expm1(2^-10)", expm1(0x1p-10), std::expm1(0x1p-10), relative},
        {"log(1.5)", log(1.5), std::log(1.5), relative * std::numbers::ln2},
        {"log(1000)", log(1000), std::log(1000), std::log(1000) * relative},
        {"log1p(2^-10)", log1p(0x1p-10), std::log1p(0x1p-10), relative * std::numbers::ln2},
        {"1.5^2.5", pow(1.5, 2.5), std::pow(1.5, 2.5), std::pow(1.5, 2.5) * relative * (1 + 2.5 * std::numbers::ln2)},
        {"sin(1)", sin(1), std::sin(1), sine},
        {"cos(1)", cos(1), std::cos(1), sine},
        {"sin at its maximum", sin(from(1, 2)), 1, sine},
        {"asin(0.5)", asin(0.5), std::asin(0.5), 7e-5},
        {"acos(0.5)", acos(0.5), std::acos(0.5), 7e-5},
        {"atan(3)", atan(3), std::atan(3), 1.2e-5},
        {"atan2(1, -2)", atan2(1, -2), std::atan2(1, -2), 1.2e-5},
        {"sinh(2)", sinh(2), std::sinh(2), std::cosh(2) * relative},
        {"cosh(2)", cosh(2), std::cosh(2), std::cosh(2) * relative},
        {"tanh(0.5)", tanh(0.5), std::tanh(0.5), relative * 0.4},
        {"asinh(3)", asinh(3), std::asinh(3), std::asinh(3) * relative},
        {"acosh(3)", acosh(3), std::acosh(3), std::acosh(3) * relative},
        {"atanh(0.5)", atanh(0.5), std::atanh(0.5), std::atanh(0.5) * relative},
        {"erf(0.5)", erf(0.5), std::erf(0.5), 0x1p-20},
    };
    for (const auto& [what, result, exact, error] : cases) {
        EXPECT_TRUE(result.contains(exact)) << what << " is " << text_of(result);
        EXPECT_FALSE(result.nan) << what;
        if (what != "sin at its maximum") {
            EXPECT_TRUE(result.contains(exact - 0.9 * error)) << what << " is too narrow below";
            EXPECT_FALSE(result.contains(exact - 2.5 * error)) << what << " is too wide below: " << text_of(result);
        }
        EXPECT_TRUE(result.contains(exact + 0.9 * error)) << what << " is too narrow above";
        EXPECT_FALSE(result.contains(exact + 2.5 * error)) << what << " is too wide above: " << text_of(result);
    }
}

/// The final result overflows to infinity, but intermediate results need not overflow.
/// Odd powers keep the sign, of which there may be two.
TEST(Interval, PowersOfEitherSign) {
    const Interval either = pow(Interval(-2, 1, false), 3);
    EXPECT_TRUE(either.contains(-8));
    EXPECT_TRUE(either.contains(1));
    EXPECT_FALSE(pow(Interval(-2, -1, false), 3).contains(1));
    EXPECT_FALSE(pow(Interval(-2, 1, false), 2).contains(-1));
}

/// Direct3D guarantees sin and cos from -100 pi to 100 pi.
TEST(Interval, SineBeyondItsGuaranteeIsAnything) {
    for (const double x : {314.0, -314.0}) {
        EXPECT_LT(sin(x).high - sin(x).low, 0.002) << x;
        EXPECT_LT(cos(x).high - cos(x).low, 0.002) << x;
    }
    for (const double x : {314.5, -314.5, 1e4}) {
        for (const Interval& range : {sin(x), cos(x)}) {
            EXPECT_LE(range.low, -1) << x;
            EXPECT_GE(range.high, 1) << x;
        }
    }
}

TEST(Interval, BeyondTheRange) {
    for (const Interval& x : {exp(100), Interval(0x1p100) * 0x1p100, Interval(most) + most, Interval(1e30) / 1e-30}) {
        EXPECT_TRUE(x.contains(inf));
        EXPECT_FALSE(x.contains(most));
        EXPECT_FALSE(x.nan);
        EXPECT_FALSE((-x).contains(-most));
        EXPECT_TRUE((-x).contains(-inf));
    }
    EXPECT_TRUE((Interval(1) / (1 + exp(89.2))).contains(std::exp(-89.2)));
    EXPECT_TRUE((Interval(most) * 8 / 16).contains(most / 2));
    EXPECT_FALSE((Interval(most) * 8 / 16).contains(most / 4)) << "no way leads there";
    EXPECT_TRUE((Interval(1e30) - 1e-30 * trunc(Interval(1e30) / 1e-30)).contains(1e-31));
    for (const double x : {89.2, -89.2}) {
        EXPECT_TRUE(sinh(x).contains(std::sinh(x))) << x;
        EXPECT_TRUE(cosh(x).contains(std::cosh(x))) << x;
    }
    for (const double x : {1e19, 1e30, most}) {
        EXPECT_TRUE(asinh(x).contains(std::asinh(x))) << x;
        EXPECT_TRUE(asinh(-x).contains(std::asinh(-x))) << x;
        EXPECT_TRUE(acosh(x).contains(std::acosh(x))) << x;
        EXPECT_FALSE(acosh(x).contains(std::acosh(x) * 0.999)) << x;
    }
    EXPECT_FALSE(sinh(88).contains(inf));
    EXPECT_FALSE(asinh(1e18).contains(inf));
}

TEST(IntervalHistory, SaysWhatWidened) {
    const IntervalHistory history;
    EXPECT_EQ(history.text(), "");
    (void)floor(Interval(1.5));
    (void)-Interval(1.5);
    EXPECT_EQ(history.text(), "") << "nothing was rounded";
    (void)(Interval(1) + 2);
    EXPECT_EQ(history.text(), "+: one rounding");
    (void)(Interval(1) + 2 - 5);
    EXPECT_EQ(history.text(), "+: one rounding") << "once for each kind";
    (void)sqrt(Interval(2));
    EXPECT_EQ(history.text(), "+: one rounding; sqrt: 1 ULP") << "in the order of first use";
}

TEST(IntervalHistory, OfItsOwnTime) {
    (void)(Interval(1) + 2);
    const IntervalHistory outer;
    {
        const IntervalHistory inner;
        (void)(Interval(1) / 3);
        EXPECT_EQ(inner.text(), "/: 1 ULP");
    }
    EXPECT_EQ(outer.text(), "");
    (void)exp(Interval(1));
    EXPECT_EQ(outer.text(), "exp: 2^-21 relative, of an argument scaled to base 2; *: one rounding");
}

}  // namespace
}  // namespace dmlconform::cpu::interval_test

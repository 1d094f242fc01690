// Tests of FusedActivation in engine/cpu/element_wise/machine: values derived by hand; the interval contains FP32
// evaluations of the documented formulas and rejects results of other functions.
#include "engine/cpu/element_wise/fused_activation.h"
#include "engine/cpu/element_wise/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/descriptor_builder.h"

namespace dmlconform::tests::fused_activation_test {
namespace {

using cpu::Interval;
using cpu::element_wise::FusedActivation;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// To 17 digits, from tables.
constexpr double e = 2.7182818284590452;
constexpr double ln2 = 0.69314718055994531;
constexpr double tanh1 = 0.76159415595576489;
constexpr double erf_half_root = 0.68268949213708590;  // erf(1 / sqrt 2), the probability of one sigma
const double sigmoid1 = e / (1 + e);

/// A function as documented, in FP32, with parameters a and b in the order of the struct.
struct Function {
    std::string_view name;
    std::string_view first;
    std::string_view second;
    float (*documented)(float x, float a, float b);
};

float f32_sigmoid(float x) {
    return 1 / (1 + std::exp(-x));
}

float f32_clamp01(float x) {
    return std::max(0.0f, std::min(x, 1.0f));
}

constexpr std::array<Function, 19> functions{{
    {"IDENTITY", "", "", [](float x, float, float) { return x; }},
    {"CELU", "Alpha", "",
     [](float x, float a, float) { return std::max(0.0f, x) + std::min(0.0f, a * (std::exp(x / a) - 1)); }},
    {"ELU", "Alpha", "", [](float x, float a, float) { return x >= 0 ? x : a * (std::exp(x) - 1); }},
    {"GELU", "", "", [](float x, float, float) { return 0.5f * x * (1 + std::erf(x / std::sqrt(2.0f))); }},
    {"HARD_SIGMOID", "Alpha", "Beta", [](float x, float a, float b) { return f32_clamp01(a * x + b); }},
    {"HARD_SWISH", "Alpha", "Beta", [](float x, float a, float b) { return x * f32_clamp01(a * x + b); }},
    {"LEAKY_RELU", "Alpha", "", [](float x, float a, float) { return x >= 0 ? x : a * x; }},
    {"LINEAR", "Alpha", "Beta", [](float x, float a, float b) { return a * x + b; }},
    {"PARAMETRIC_SOFTPLUS", "Alpha", "Beta",
     [](float x, float a, float b) { return a * std::log(1 + std::exp(b * x)); }},
    {"RELU", "", "", [](float x, float, float) { return std::max(0.0f, x); }},
    {"SCALED_ELU", "Alpha", "Gamma",
     [](float x, float a, float g) { return x > 0 ? g * x : g * (a * std::exp(x) - a); }},
    {"SCALED_TANH", "Alpha", "Beta", [](float x, float a, float b) { return a * std::tanh(b * x); }},
    {"SHRINK", "Bias", "Threshold",
     [](float x, float bias, float t) { return x > t    ? x - bias
                                               : x < -t ? x + bias
                                                        : 0.0f; }},
    {"SIGMOID", "", "", [](float x, float, float) { return f32_sigmoid(x); }},
    {"SOFTPLUS", "Steepness", "", [](float x, float s, float) { return std::log(1 + std::exp(s * x)) / s; }},
    {"SOFTSIGN", "", "", [](float x, float, float) { return x / (1 + std::fabs(x)); }},
    {"SWISH", "SigmoidInputScale", "", [](float x, float s, float) { return x / (1 + std::exp(-s * x)); }},
    {"TANH", "", "",
     [](float x, float, float) {
         const float magnitude = (1 - std::exp(-2 * std::fabs(x))) / (1 + std::exp(-2 * std::fabs(x)));
         return std::copysign(magnitude, x);
     }},
    {"THRESHOLDED_RELU", "Alpha", "", [](float x, float a, float) { return x > a ? x : 0.0f; }},
}};

const Function& function_of(std::string_view name) {
    return *std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
}

/// A function with its parameters. Parameters that it does not have are ignored.
struct Activation {
    std::string_view name;
    double first = 0;
    double second = 0;
    FusedActivation function;

    double operator()(double x) const { return function(x); }
    /// The interval for an argument that is only known to lie within `slack` of x.
    [[nodiscard]] Interval accepted(double x, double slack) const {
        return function(std::isfinite(x) ? Interval(x - slack, x + slack, false) : Interval(x));
    }
};

Activation made(std::string_view name, double first = 0, double second = 0) {
    const Function& f = function_of(name);
    std::vector<Setting> settings;
    if (!f.first.empty()) {
        settings.emplace_back(f.first, first);
    }
    if (!f.second.empty()) {
        settings.emplace_back(f.second, second);
    }
    const auto descriptor = activation("ACTIVATION_" + std::string(name), settings);
    return {name, first, second, FusedActivation(descriptor.get())};
}

bool contains(const Interval& interval, double value) {
    return interval.contains(value);
}

TEST(Activation, ValuesByHand) {
    struct Row {
        Activation activation;
        double x = 0;
        double y = 0;
    };
    const Row rows[] = {
        {made("IDENTITY"), -2.5, -2.5},
        {made("CELU", 2), 3, 3},
        {made("CELU", 2), -2, 2 / e - 2},
        {made("CELU", 2), -inf, -2},
        {made("ELU", 2), 3, 3},
        {made("ELU", 2), 0, 0},
        {made("ELU", 2), -1, 2 / e - 2},
        {made("ELU", 2), -inf, -2},
        {made("ELU", 1), -1e-10, -1e-10 + 0.5e-20},  // exp(x) - 1 would lose half of the digits
        {made("GELU"), 1, 0.5 * (1 + erf_half_root)},
        {made("GELU"), -1, -0.5 * (1 - erf_half_root)},
        {made("GELU"), 0, 0},
        {made("GELU"), -10, -10 * 7.6198530241605261e-24},  // the normal distribution's tail at 10 sigma
        {made("GELU"), inf, inf},
        {made("HARD_SIGMOID", 0.25, 0.5), 1, 0.75},
        {made("HARD_SIGMOID", 0.25, 0.5), 2, 1},
        {made("HARD_SIGMOID", 0.25, 0.5), 3, 1},
        {made("HARD_SIGMOID", 0.25, 0.5), -2, 0},
        {made("HARD_SIGMOID", 0.25, 0.5), -inf, 0},
        {made("HARD_SWISH", 0.25, 0.5), 1, 0.75},
        {made("HARD_SWISH", 0.25, 0.5), -1, -0.25},
        {made("HARD_SWISH", 0.25, 0.5), -2, 0},
        {made("HARD_SWISH", 0.25, 0.5), 3, 3},
        {made("LEAKY_RELU", 0.25), -2, -0.5},
        {made("LEAKY_RELU", 0.25), 2, 2},
        {made("LINEAR", 2, 3), 5, 13},
        {made("LINEAR", 2, 3), -5, -7},
        {made("PARAMETRIC_SOFTPLUS", 2, 3), 0, 2 * ln2},
        {made("PARAMETRIC_SOFTPLUS", 2, 0.5), 2, 2 * std::log(1 + e)},
        {made("PARAMETRIC_SOFTPLUS", 2, 3), 1000, 6000},
        {made("RELU"), 2, 2},
        {made("RELU"), -2, 0},
        {made("RELU"), -inf, 0},
        {made("SCALED_ELU", 2, 3), 1, 3},
        {made("SCALED_ELU", 2, 3), -1, 3 * (2 / e - 2)},
        {made("SCALED_ELU", 2, 3), -inf, -6},
        {made("SCALED_TANH", 2, 0.5), 2, 2 * tanh1},
        {made("SCALED_TANH", 2, 0.5), -inf, -2},
        {made("SHRINK", 1, 0.5), 2, 1},
        {made("SHRINK", 1, 0.5), -2, -1},
        {made("SHRINK", 1, 0.5), 0.75, -0.25},
        {made("SHRINK", 1, 0.5), 0.5, 0},
        {made("SHRINK", 1, 0.5), -0.5, 0},
        {made("SIGMOID"), 0, 0.5},
        {made("SIGMOID"), 1, sigmoid1},
        {made("SIGMOID"), -1, 1 - sigmoid1},
        {made("SIGMOID"), -700, std::exp(-700.0)},
        {made("SIGMOID"), inf, 1},
        {made("SIGMOID"), -inf, 0},
        {made("SOFTPLUS", 1), 0, ln2},
        {made("SOFTPLUS", 2), 0.5, std::log(1 + e) / 2},
        {made("SOFTPLUS", 2), 1000, 1000},
        {made("SOFTPLUS", 1), -40, std::exp(-40.0)},  // ln(1 + u) = u for such a small u
        {made("SOFTSIGN"), 3, 0.75},
        {made("SOFTSIGN"), -1, -0.5},
        {made("SWISH", 1), 1, sigmoid1},
        {made("SWISH", 2), 0.5, 0.5 * sigmoid1},
        {made("SWISH", 2), -0.5, -0.5 * (1 - sigmoid1)},
        {made("TANH"), 1, tanh1},
        {made("TANH"), -inf, -1},
        {made("THRESHOLDED_RELU", 1), 1, 0},
        {made("THRESHOLDED_RELU", 1), 1.5, 1.5},
        {made("THRESHOLDED_RELU", 1), -3, 0},
    };
    for (const Row& row : rows) {
        const double y = row.activation(row.x);
        // In the tail of GELU, a rounding error of the argument is magnified x * x times.
        const double ulps = row.activation.name == "GELU" ? std::max(1.0, row.x * row.x) : 1;
        if (std::isinf(row.y) || row.y == 0) {
            EXPECT_EQ(y, row.y) << row.activation.name << '(' << row.x << ')';
        } else {
            EXPECT_NEAR(y / row.y, 1, ulps * 4e-16) << row.activation.name << '(' << row.x << ") = " << y;
        }
    }
}

TEST(Activation, FromDescriptors) {
    EXPECT_FALSE(FusedActivation(nullptr).is_present());
    EXPECT_EQ(FusedActivation(nullptr)(-2.5), -2.5);
    for (const Function& f : functions) {
        SCOPED_TRACE(f.name);
        EXPECT_TRUE(made(f.name, 0.5, 0.25).function.is_present());
        // Checks that this list has every parameter.
        std::size_t attributes = 0;
        for (const auto& field : operators::find_operator("ACTIVATION_" + std::string(f.name))->fields) {
            attributes += field.is_tensor() ? 0 : 1;
        }
        EXPECT_EQ(attributes, (f.first.empty() ? 0u : 1u) + (f.second.empty() ? 0u : 1u));
    }
    // The C struct stores parameters as FP32.
    EXPECT_EQ(made("LINEAR", 0.1, 0.7)(1), double{0.1f} + double{0.7f});
    EXPECT_THROW(FusedActivation(activation("ACTIVATION_SOFTMAX").get()), std::logic_error);
}

TEST(Activation, NanStaysNan) {
    for (const Function& f : functions) {
        const Activation function = made(f.name, 0.5, 0.25);
        EXPECT_TRUE(std::isnan(function(nan))) << f.name;
        // By themselves these have 0 for NaN, and so has DirectML where CELU, HARD_SIGMOID and SHRINK are fused.
        const bool may_lose_it = f.name == "CELU" || f.name == "HARD_SIGMOID" || f.name == "RELU" || f.name == "SHRINK";
        EXPECT_EQ(function.accepted(nan, 0).has_numbers(), may_lose_it) << f.name;
        EXPECT_EQ(function.accepted(nan, 0).contains(0), may_lose_it) << f.name;
        EXPECT_FALSE(function.accepted(nan, 0).contains(1)) << f.name;
        EXPECT_TRUE(function.accepted(nan, 0).nan) << f.name;
        EXPECT_TRUE(function.function(Interval(1, 2, true)).nan) << f.name;
    }
}

/// Draws parameters and arguments, as FP32 numbers, from the ranges in which fused activations are used.
class Draw {
public:
    Activation activation(const Function& f) {
        const double first = f.first.empty() ? 0 : parameter();
        return made(f.name, first, f.second.empty() ? 0 : parameter());
    }

    /// Creates a new activation for every tenth number only, because creating one takes longer than testing it.
    const Activation& activation_for(int number, const Function& f, std::optional<Activation>& drawn) {
        if (number % 10 == 0) {
            drawn = activation(f);
        }
        return *drawn;
    }

    float argument() {
        // Most results of a normalisation are a few units large, some are tiny and some are large.
        const float sign = uniform(0, 1) < 0.5f ? -1.0f : 1.0f;
        return sign * std::exp2(uniform(0, 1) < 0.7f ? uniform(-4, 3) : uniform(-30, 5));
    }

    float uniform(float low, float high) { return std::uniform_real_distribution<float>(low, high)(generator_); }

private:
    double parameter() { return double{uniform(0.1f, 2)}; }

    std::mt19937 generator_{5};
};

TEST(Activation, AcceptsItsValueAndFp32Evaluations) {
    Draw draw;
    for (const Function& f : functions) {
        std::optional<Activation> drawn;
        for (int i = 0; i < 20'000; ++i) {
            const Activation& function = draw.activation_for(i, f, drawn);
            const float x = draw.argument();
            const Interval interval = function.accepted(double{x}, 0);
            ASSERT_TRUE(contains(interval, function(double{x}))) << f.name << '(' << x << ')';
            const float y = f.documented(x, static_cast<float>(function.first), static_cast<float>(function.second));
            ASSERT_TRUE(contains(interval, double{y}))
                << f.name << '(' << x << ") with " << function.first << ", " << function.second << ": " << y
                << " is not in " << interval.low << " … " << interval.high;
        }
    }
}

/// D3D allows a relative error of 2^-21 for exp, except that exp(0) is 1. For log (base 2), it allows 2^-21, absolute
/// between 1/2 and 2 and relative elsewhere.
struct Intrinsics {
    double exp_error;
    double log_error;

    [[nodiscard]] double exp(double x) const { return x == 0 ? 1 : std::exp(x) * (1 + exp_error); }
    [[nodiscard]] double log(double x) const {
        const double y = std::log(x);
        return 0.5 <= x && x <= 2 ? y + log_error * ln2 : y * (1 + log_error);
    }
    [[nodiscard]] double sigmoid(double x) const { return 1 / (1 + exp(-x)); }
    [[nodiscard]] double softplus(double x) const { return log(1 + exp(x)); }
    [[nodiscard]] double tanh(double x) const {
        return std::copysign((1 - exp(-2 * std::fabs(x))) / (1 + exp(-2 * std::fabs(x))), x);
    }
};

TEST(Activation, AcceptsIntrinsicsAsInaccurateAsTheyMayBe) {
    struct Row {
        std::string_view name;
        double (*documented)(const Intrinsics& m, double x, double a, double b);
    };
    const Row rows[] = {
        {"CELU", [](const Intrinsics& m, double x, double a, double) { return x > 0 ? x : a * (m.exp(x / a) - 1); }},
        {"ELU", [](const Intrinsics& m, double x, double a, double) { return x >= 0 ? x : a * (m.exp(x) - 1); }},
        {"SCALED_ELU",
         [](const Intrinsics& m, double x, double a, double g) { return g * (x > 0 ? x : a * m.exp(x) - a); }},
        {"SIGMOID", [](const Intrinsics& m, double x, double, double) { return m.sigmoid(x); }},
        {"SWISH", [](const Intrinsics& m, double x, double a, double) { return x * m.sigmoid(a * x); }},
        {"SOFTPLUS", [](const Intrinsics& m, double x, double a, double) { return m.softplus(a * x) / a; }},
        {"PARAMETRIC_SOFTPLUS",
         [](const Intrinsics& m, double x, double a, double b) { return a * m.softplus(b * x); }},
        {"TANH", [](const Intrinsics& m, double x, double, double) { return m.tanh(x); }},
        {"SCALED_TANH", [](const Intrinsics& m, double x, double a, double b) { return a * m.tanh(b * x); }},
    };
    constexpr double error = 0.999 * 0x1p-21;
    for (const Row& row : rows) {
        for (const double first : {0.25, 1.0, 3.0}) {
            for (const double second : {0.5, 2.0}) {
                for (double x = -8; x <= 8; x += 0.0625) {
                    const Interval interval = made(row.name, first, second).accepted(x, 0);
                    for (const double exp_error : {-error, error}) {
                        for (const double log_error : {-error, error}) {
                            const double y = row.documented({exp_error, log_error}, x, first, second);
                            ASSERT_TRUE(contains(interval, y))
                                << row.name << '(' << x << ") with " << first << ", " << second << ": " << y
                                << " is not in " << interval.low << " … " << interval.high;
                        }
                    }
                }
            }
        }
    }
}

/// The interval must not be much wider than necessary: an error of 2^-12, relative to the operands, is outside.
TEST(Activation, RejectsWhatRoundingsDoNotExplain) {
    Draw draw;
    for (const Function& f : functions) {
        for (int i = 0; i < 2'000; ++i) {
            const Activation function = draw.activation(f);
            const double x = double{draw.argument()};
            const Interval interval = function.accepted(x, 0);
            const double y = function(x);
            // Rounding errors scale with the argument, or with parameters that cancel; 2^-12 is 4096 rounding errors.
            const double unit = 0x1p-12 * (std::fabs(y) + std::fabs(x) + 1) * (std::fabs(function.first) + 1);
            ASSERT_FALSE(contains(interval, y + unit)) << f.name << '(' << x << ')';
            ASSERT_FALSE(contains(interval, y - unit)) << f.name << '(' << x << ')';
        }
    }
}

TEST(Activation, RejectsOtherFunctions) {
    // Parameters for which no two functions agree everywhere.
    constexpr double first = 0.75;
    constexpr double second = 0.375;
    for (const Function& f : functions) {
        for (const Function& g : functions) {
            if (f.name == g.name) {
                continue;
            }
            const Activation right_one = made(f.name, first, second);
            const Activation wrong_one = made(g.name, first, second);
            int differences = 0;
            for (double x = -4; x <= 4; x += 0.0625) {
                const double right = right_one(x);
                const double wrong = wrong_one(x);
                if (std::fabs(right - wrong) > 1e-4) {
                    ++differences;
                    ASSERT_FALSE(contains(right_one.accepted(x, 0), wrong)) << g.name << '(' << x << ") for " << f.name;
                }
            }
            EXPECT_GT(differences, 0) << f.name << " and " << g.name;
        }
    }
}

/// If an argument is only known within the slack, every value of the function in that range is accepted.
void expect_range(const Activation& function, double x, double slack) {
    const Interval interval = function.accepted(x, slack);
    constexpr int steps = 64;
    for (int step = -steps; step <= steps; ++step) {
        // Implementations compute with FP32 arguments.
        const auto argument = double{static_cast<float>(x + slack * step / steps)};
        if (std::fabs(argument - x) > slack) {
            continue;
        }
        ASSERT_TRUE(contains(interval, function(argument)))
            << function.name << '(' << argument << ") with " << function.first << ", " << function.second << " = "
            << function(argument) << " is not in " << interval.low << " … " << interval.high << " for x = " << x
            << " ± " << slack;
    }
}

TEST(Activation, AcceptsTheRangeWithinTheSlack) {
    Draw draw;
    for (const Function& f : functions) {
        for (int i = 0; i < 1'000; ++i) {
            const float x = draw.argument();
            const double slack = double{std::exp2(draw.uniform(-24, -2)) * (std::fabs(x) + 1)};
            expect_range(draw.activation(f), double{x}, slack);
        }
    }
}

TEST(Activation, AcceptsFp32EvaluationsWithinTheSlack) {
    Draw draw;
    for (const Function& f : functions) {
        std::optional<Activation> drawn;
        for (int i = 0; i < 20'000; ++i) {
            const Activation& function = draw.activation_for(i, f, drawn);
            const double x = double{draw.argument()};
            const double slack = double{std::exp2(draw.uniform(-22, -2))} * (std::fabs(x) + 1);
            const auto argument = static_cast<float>(x + slack * double{draw.uniform(-1, 1)});
            const float y =
                f.documented(argument, static_cast<float>(function.first), static_cast<float>(function.second));
            if (std::fabs(double{argument} - x) > slack) {
                continue;  // rounded to a point outside
            }
            const Interval interval = function.accepted(x, slack);
            ASSERT_TRUE(contains(interval, double{y}))
                << f.name << '(' << argument << ") with " << function.first << ", " << function.second << ": " << y
                << " is not in " << interval.low << " … " << interval.high << " for x = " << x << " ± " << slack;
        }
    }
}

/// Kinks, jumps and extrema within the slack, where the values at the ends do not bound the range.
TEST(Activation, AcceptsTheRangeAcrossKinks) {
    struct Row {
        Activation activation;
        double kink = 0;
    };
    const Row rows[] = {
        {made("RELU"), 0},
        {made("LEAKY_RELU", -0.5), 0},  // V-shaped
        {made("ELU", -1), 0},
        {made("THRESHOLDED_RELU", 2), 2},    // jumps from 0 to 2
        {made("THRESHOLDED_RELU", -2), -2},  // jumps from 0 to -2
        {made("SHRINK", 0, 1), 1},           // jumps from 0 to 1
        {made("SHRINK", 0, 1), -1},
        {made("SHRINK", 5, 1), 1},  // jumps from 0 to -4
        {made("SHRINK", 5, 1), -1},
        {made("HARD_SIGMOID", 0.25, 0.5), 2},
        {made("HARD_SIGMOID", 0.25, 0.5), -2},
        {made("HARD_SWISH", 0.25, 0.5), -1},  // the minimum of x (x / 4 + 1 / 2)
        {made("HARD_SWISH", 0.25, 0.5), -2},
        {made("HARD_SWISH", 0.25, 0.5), 2},
        {made("GELU"), -0.7517915246935645},      // its minimum
        {made("SWISH", 1), -1.2784645427610738},  // its minimum
        {made("SWISH", 2), -0.6392322713805369},
    };
    for (const Row& row : rows) {
        for (const double slack : {1e-6, 1e-4, 1e-2, 0.25}) {
            for (const double offset : {-0.9, -0.5, -0.1, 0.0, 0.1, 0.5, 0.9}) {
                expect_range(row.activation, row.kink + offset * slack, slack);
                if (HasFatalFailure()) {
                    break;
                }
            }
        }
    }
}

/// Arguments on the other side of a kink are not passed to the branch on this side.
TEST(Activation, BranchesKeepToTheirArguments) {
    struct Row {
        Activation activation;
        double x = 0;
        double slack = 0;
        double low = 0;
        double high = 0;
    };
    const Row rows[] = {
        {made("ELU", 2), 0, 100, -2, 100},           {made("ELU", 2), 50, 1000, -2, 1050},
        {made("SCALED_ELU", 2, 3), 0, 100, -6, 300}, {made("LEAKY_RELU", 0.25), 0, 100, -25, 100},
        {made("THRESHOLDED_RELU", 2), 2, 1, 0, 3},   {made("SHRINK", 5, 1), 1, 0.5, -4, 0},
    };
    for (const Row& row : rows) {
        const Interval interval = row.activation.accepted(row.x, row.slack);
        EXPECT_NEAR(interval.low, row.low, 1e-5) << row.activation.name;
        EXPECT_NEAR(interval.high, row.high, 1e-4) << row.activation.name;
    }
}

/// At a jump, the limit from the far side is accepted, but not a value that only a wrong comparison would give.
TEST(Activation, JumpsExcludeTheThresholdItself) {
    const Activation thresholded = made("THRESHOLDED_RELU", -2);
    EXPECT_FALSE(contains(thresholded.accepted(-2, 1e-6), -2));
    EXPECT_TRUE(contains(thresholded.accepted(-2, 1e-6), double{std::nextafter(-2.0f, 0.0f)}));
    const Activation shrink = made("SHRINK", 0, 1);
    EXPECT_FALSE(contains(shrink.accepted(1, 1e-6), 1 + 1e-5));
    EXPECT_TRUE(contains(shrink.accepted(1, 1e-6), double{std::nextafter(1.0f, 2.0f)}));
    EXPECT_TRUE(contains(shrink.accepted(-1, 1e-6), double{std::nextafter(-1.0f, -2.0f)}));
}

/// Nothing is below or at NaN, so that the function changes nothing, and a range stays what it is.
TEST(Activation, NanThresholdsKeepRanges) {
    const Interval kept = made("THRESHOLDED_RELU", nan).accepted(-0.5, 0.25);
    EXPECT_LE(kept.low, -0.75);
    EXPECT_GE(kept.high, -0.25);
    EXPECT_FALSE(contains(kept, 0));
}

TEST(Activation, InfinitiesAreNotLost) {
    struct Row {
        Activation activation;
        double x = 0;
        double y = 0;
    };
    const Row rows[] = {
        {made("IDENTITY"), inf, inf}, {made("RELU"), inf, inf},       {made("RELU"), -inf, 0},
        {made("TANH"), inf, 1},       {made("TANH"), -inf, -1},       {made("SIGMOID"), inf, 1},
        {made("SIGMOID"), -inf, 0},   {made("ELU", 2), -inf, -2},     {made("SCALED_TANH", 2, 1), inf, 2},
        {made("CELU", 2), -inf, -2},  {made("SOFTPLUS", 1), -inf, 0},
    };
    for (const Row& row : rows) {
        const Interval interval = row.activation.accepted(row.x, 0);
        EXPECT_TRUE(contains(interval, row.y))
            << row.activation.name << '(' << row.x << "): " << interval.low << " … " << interval.high;
    }
}

}  // namespace
}  // namespace dmlconform::tests::fused_activation_test

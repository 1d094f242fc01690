// engine/operators/activation: values worked out by hand, and that the accepted interval holds FP32 evaluations of the
// documented formulas and nothing that another function gives.
#include "engine/operators/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/descriptor_builder.h"

namespace dmlconform::tests {
namespace {

using operators::Activation;
using operators::ActivationFunction;
using operators::Interval;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// To 17 digits, from tables.
constexpr double e = 2.7182818284590452;
constexpr double ln2 = 0.69314718055994531;
constexpr double tanh1 = 0.76159415595576489;
constexpr double erf_half_root = 0.68268949213708590;  // erf(1 / sqrt 2): the probability of one sigma
const double sigmoid1 = e / (1 + e);

/// A function as the documentation writes it, in FP32, for parameters a and b in the order of the struct.
struct Function {
    ActivationFunction function;
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
    {ActivationFunction::identity, "IDENTITY", "", "", [](float x, float, float) { return x; }},
    {ActivationFunction::celu, "CELU", "Alpha", "",
     [](float x, float a, float) { return std::max(0.0f, x) + std::min(0.0f, a * (std::exp(x / a) - 1)); }},
    {ActivationFunction::elu, "ELU", "Alpha", "",
     [](float x, float a, float) { return x >= 0 ? x : a * (std::exp(x) - 1); }},
    {ActivationFunction::gelu, "GELU", "", "",
     [](float x, float, float) { return 0.5f * x * (1 + std::erf(x / std::sqrt(2.0f))); }},
    {ActivationFunction::hard_sigmoid, "HARD_SIGMOID", "Alpha", "Beta",
     [](float x, float a, float b) { return f32_clamp01(a * x + b); }},
    {ActivationFunction::hard_swish, "HARD_SWISH", "Alpha", "Beta",
     [](float x, float a, float b) { return x * f32_clamp01(a * x + b); }},
    {ActivationFunction::leaky_relu, "LEAKY_RELU", "Alpha", "",
     [](float x, float a, float) { return x >= 0 ? x : a * x; }},
    {ActivationFunction::linear, "LINEAR", "Alpha", "Beta", [](float x, float a, float b) { return a * x + b; }},
    {ActivationFunction::parametric_softplus, "PARAMETRIC_SOFTPLUS", "Alpha", "Beta",
     [](float x, float a, float b) { return a * std::log(1 + std::exp(b * x)); }},
    {ActivationFunction::relu, "RELU", "", "", [](float x, float, float) { return std::max(0.0f, x); }},
    {ActivationFunction::scaled_elu, "SCALED_ELU", "Alpha", "Gamma",
     [](float x, float a, float g) { return x > 0 ? g * x : g * (a * std::exp(x) - a); }},
    {ActivationFunction::scaled_tanh, "SCALED_TANH", "Alpha", "Beta",
     [](float x, float a, float b) { return a * std::tanh(b * x); }},
    {ActivationFunction::shrink, "SHRINK", "Bias", "Threshold",
     [](float x, float bias, float t) { return x > t    ? x - bias
                                               : x < -t ? x + bias
                                                        : 0.0f; }},
    {ActivationFunction::sigmoid, "SIGMOID", "", "", [](float x, float, float) { return f32_sigmoid(x); }},
    {ActivationFunction::softplus, "SOFTPLUS", "Steepness", "",
     [](float x, float s, float) { return std::log(1 + std::exp(s * x)) / s; }},
    {ActivationFunction::softsign, "SOFTSIGN", "", "", [](float x, float, float) { return x / (1 + std::fabs(x)); }},
    {ActivationFunction::swish, "SWISH", "SigmoidInputScale", "",
     [](float x, float s, float) { return x / (1 + std::exp(-s * x)); }},
    {ActivationFunction::tanh, "TANH", "", "",
     [](float x, float, float) {
         const float magnitude = (1 - std::exp(-2 * std::fabs(x))) / (1 + std::exp(-2 * std::fabs(x)));
         return std::copysign(magnitude, x);
     }},
    {ActivationFunction::thresholded_relu, "THRESHOLDED_RELU", "Alpha", "",
     [](float x, float a, float) { return x > a ? x : 0.0f; }},
}};

Activation made(ActivationFunction function, double first = 0, double second = 0) {
    return {.function = function, .first = first, .second = second};
}

bool contains(const Interval& interval, double value) {
    return interval.low <= value && value <= interval.high;
}

TEST(Activation, ValuesByHand) {
    using F = ActivationFunction;
    struct Row {
        Activation activation;
        double x = 0;
        double y = 0;
    };
    const Row rows[] = {
        {made(F::identity), -2.5, -2.5},
        {made(F::celu, 2), 3, 3},
        {made(F::celu, 2), -2, 2 / e - 2},
        {made(F::celu, 2), -inf, -2},
        {made(F::elu, 2), 3, 3},
        {made(F::elu, 2), 0, 0},
        {made(F::elu, 2), -1, 2 / e - 2},
        {made(F::elu, 2), -inf, -2},
        {made(F::elu, 1), -1e-10, -1e-10 + 0.5e-20},  // exp(x) - 1 would lose half of the digits
        {made(F::gelu), 1, 0.5 * (1 + erf_half_root)},
        {made(F::gelu), -1, -0.5 * (1 - erf_half_root)},
        {made(F::gelu), 0, 0},
        {made(F::gelu), -10, -10 * 7.6198530241605261e-24},  // the normal distribution's tail at 10 sigma
        {made(F::gelu), inf, inf},
        {made(F::hard_sigmoid, 0.25, 0.5), 1, 0.75},
        {made(F::hard_sigmoid, 0.25, 0.5), 2, 1},
        {made(F::hard_sigmoid, 0.25, 0.5), 3, 1},
        {made(F::hard_sigmoid, 0.25, 0.5), -2, 0},
        {made(F::hard_sigmoid, 0.25, 0.5), -inf, 0},
        {made(F::hard_swish, 0.25, 0.5), 1, 0.75},
        {made(F::hard_swish, 0.25, 0.5), -1, -0.25},
        {made(F::hard_swish, 0.25, 0.5), -2, 0},
        {made(F::hard_swish, 0.25, 0.5), 3, 3},
        {made(F::leaky_relu, 0.25), -2, -0.5},
        {made(F::leaky_relu, 0.25), 2, 2},
        {made(F::linear, 2, 3), 5, 13},
        {made(F::linear, 2, 3), -5, -7},
        {made(F::parametric_softplus, 2, 3), 0, 2 * ln2},
        {made(F::parametric_softplus, 2, 0.5), 2, 2 * std::log(1 + e)},
        {made(F::parametric_softplus, 2, 3), 1000, 6000},
        {made(F::relu), 2, 2},
        {made(F::relu), -2, 0},
        {made(F::relu), -inf, 0},
        {made(F::scaled_elu, 2, 3), 1, 3},
        {made(F::scaled_elu, 2, 3), -1, 3 * (2 / e - 2)},
        {made(F::scaled_elu, 2, 3), -inf, -6},
        {made(F::scaled_tanh, 2, 0.5), 2, 2 * tanh1},
        {made(F::scaled_tanh, 2, 0.5), -inf, -2},
        {made(F::shrink, 1, 0.5), 2, 1},
        {made(F::shrink, 1, 0.5), -2, -1},
        {made(F::shrink, 1, 0.5), 0.75, -0.25},
        {made(F::shrink, 1, 0.5), 0.5, 0},
        {made(F::shrink, 1, 0.5), -0.5, 0},
        {made(F::sigmoid), 0, 0.5},
        {made(F::sigmoid), 1, sigmoid1},
        {made(F::sigmoid), -1, 1 - sigmoid1},
        {made(F::sigmoid), -700, std::exp(-700.0)},
        {made(F::sigmoid), inf, 1},
        {made(F::sigmoid), -inf, 0},
        {made(F::softplus, 1), 0, ln2},
        {made(F::softplus, 2), 0.5, std::log(1 + e) / 2},
        {made(F::softplus, 2), 1000, 1000},
        {made(F::softplus, 1), -40, std::exp(-40.0)},  // ln(1 + u) = u for a u as small
        {made(F::softsign), 3, 0.75},
        {made(F::softsign), -1, -0.5},
        {made(F::swish, 1), 1, sigmoid1},
        {made(F::swish, 2), 0.5, 0.5 * sigmoid1},
        {made(F::swish, 2), -0.5, -0.5 * (1 - sigmoid1)},
        {made(F::tanh), 1, tanh1},
        {made(F::tanh), -inf, -1},
        {made(F::thresholded_relu, 1), 1, 0},
        {made(F::thresholded_relu, 1), 1.5, 1.5},
        {made(F::thresholded_relu, 1), -3, 0},
    };
    for (const Row& row : rows) {
        const double y = row.activation(row.x);
        // In the tail of GELU a rounding of the argument counts x * x times.
        const double ulps = row.activation.function == F::gelu ? std::max(1.0, row.x * row.x) : 1;
        const auto index = static_cast<std::size_t>(row.activation.function);
        if (std::isinf(row.y) || row.y == 0) {
            EXPECT_EQ(y, row.y) << functions[index].name << '(' << row.x << ')';
        } else {
            EXPECT_NEAR(y / row.y, 1, ulps * 4e-16) << functions[index].name << '(' << row.x << ") = " << y;
        }
    }
}

TEST(Activation, FromDescriptors) {
    EXPECT_EQ(Activation::from(nullptr).function, ActivationFunction::identity);
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const Function& f = functions[i];
        SCOPED_TRACE(f.name);
        EXPECT_EQ(static_cast<std::size_t>(f.function), i);
        std::vector<Setting> settings;
        if (!f.first.empty()) {
            settings.emplace_back(f.first, 0.1);
        }
        if (!f.second.empty()) {
            settings.emplace_back(f.second, 0.7);
        }
        const auto descriptor = activation("ACTIVATION_" + std::string(f.name), settings);
        const Activation made_from = Activation::from(descriptor.get());
        EXPECT_EQ(made_from.function, f.function);
        // As the C struct holds them: FP32.
        EXPECT_EQ(made_from.first, f.first.empty() ? 0 : double{0.1f});
        EXPECT_EQ(made_from.second, f.second.empty() ? 0 : double{0.7f});
        // No parameter is forgotten here or there.
        std::size_t attributes = 0;
        for (const auto& field : descriptor->schema->fields) {
            attributes += field.is_tensor() ? 0 : 1;
        }
        EXPECT_EQ(attributes, settings.size());
    }
    EXPECT_THROW((void)Activation::from(activation("ACTIVATION_SOFTMAX").get()), std::logic_error);
}

TEST(Activation, NanStaysNan) {
    for (const Function& f : functions) {
        const Activation function = made(f.function, 0.5, 0.25);
        EXPECT_TRUE(std::isnan(function(nan))) << f.name;
        for (const double slack : {0.0, 0.1, inf, nan}) {
            const Interval interval = function.accepted(nan, slack);
            EXPECT_TRUE(std::isnan(interval.low) && std::isnan(interval.high)) << f.name;
        }
    }
}

/// Parameters and arguments in which a fused activation is used, as FP32 numbers.
class Draw {
public:
    Activation activation(const Function& f) {
        Activation result = made(f.function);
        result.first = f.first.empty() ? 0 : parameter();
        result.second = f.second.empty() ? 0 : parameter();
        return result;
    }

    float argument() {
        // Most results of a normalisation are a few units large; some are tiny, some large.
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
        for (int i = 0; i < 20'000; ++i) {
            const Activation function = draw.activation(f);
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

/// D3D allows exp a relative error of 2^-21 (but exp(0) is 1), and log one of 2^-21, absolute between 1/2 and 2 and
/// relative elsewhere.
struct Intrinsics {
    double exp_error;
    double log_error;

    [[nodiscard]] double exp(double x) const { return x == 0 ? 1 : std::exp(x) * (1 + exp_error); }
    [[nodiscard]] double log(double x) const {
        const double y = std::log(x);
        return 0.5 <= x && x <= 2 ? y + log_error : y * (1 + log_error);
    }
    [[nodiscard]] double sigmoid(double x) const { return 1 / (1 + exp(-x)); }
    [[nodiscard]] double softplus(double x) const { return log(1 + exp(x)); }
    [[nodiscard]] double tanh(double x) const {
        return std::copysign((1 - exp(-2 * std::fabs(x))) / (1 + exp(-2 * std::fabs(x))), x);
    }
};

TEST(Activation, AcceptsIntrinsicsAsInaccurateAsTheyMayBe) {
    using F = ActivationFunction;
    struct Row {
        F function;
        double (*documented)(const Intrinsics& m, double x, double a, double b);
    };
    const Row rows[] = {
        {F::celu, [](const Intrinsics& m, double x, double a, double) { return x > 0 ? x : a * (m.exp(x / a) - 1); }},
        {F::elu, [](const Intrinsics& m, double x, double a, double) { return x >= 0 ? x : a * (m.exp(x) - 1); }},
        {F::scaled_elu,
         [](const Intrinsics& m, double x, double a, double g) { return g * (x > 0 ? x : a * m.exp(x) - a); }},
        {F::sigmoid, [](const Intrinsics& m, double x, double, double) { return m.sigmoid(x); }},
        {F::swish, [](const Intrinsics& m, double x, double a, double) { return x * m.sigmoid(a * x); }},
        {F::softplus, [](const Intrinsics& m, double x, double a, double) { return m.softplus(a * x) / a; }},
        {F::parametric_softplus,
         [](const Intrinsics& m, double x, double a, double b) { return a * m.softplus(b * x); }},
        {F::tanh, [](const Intrinsics& m, double x, double, double) { return m.tanh(x); }},
        {F::scaled_tanh, [](const Intrinsics& m, double x, double a, double b) { return a * m.tanh(b * x); }},
    };
    constexpr double error = 0.999 * 0x1p-21;
    for (const Row& row : rows) {
        for (const double first : {0.25, 1.0, 3.0}) {
            for (const double second : {0.5, 2.0}) {
                for (double x = -8; x <= 8; x += 0.0625) {
                    const Interval interval = made(row.function, first, second).accepted(x, 0);
                    for (const double exp_error : {-error, error}) {
                        for (const double log_error : {-error, error}) {
                            const double y = row.documented({exp_error, log_error}, x, first, second);
                            ASSERT_TRUE(contains(interval, y))
                                << functions[static_cast<std::size_t>(row.function)].name << '(' << x << ") with "
                                << first << ", " << second << ": " << y << " is not in " << interval.low << " … "
                                << interval.high;
                        }
                    }
                }
            }
        }
    }
}

/// The interval is wide enough for its purpose and not much wider: a thousandth of a unit is beyond it.
TEST(Activation, RejectsWhatRoundingsDoNotExplain) {
    Draw draw;
    for (const Function& f : functions) {
        for (int i = 0; i < 2'000; ++i) {
            const Activation function = draw.activation(f);
            const double x = double{draw.argument()};
            const Interval interval = function.accepted(x, 0);
            const double y = function(x);
            // Roundings scale with the argument or the parameters where they cancel; 2^-12 is 4096 of them.
            const double unit = 0x1p-12 * (std::fabs(y) + std::fabs(x) + 1) * (std::fabs(function.first) + 1);
            ASSERT_FALSE(contains(interval, y + unit)) << f.name << '(' << x << ')';
            ASSERT_FALSE(contains(interval, y - unit)) << f.name << '(' << x << ')';
        }
    }
}

TEST(Activation, RejectsOtherFunctions) {
    // Parameters that make no two functions agree everywhere.
    constexpr double first = 0.75;
    constexpr double second = 0.375;
    for (const Function& f : functions) {
        for (const Function& g : functions) {
            if (f.function == g.function) {
                continue;
            }
            int differences = 0;
            for (double x = -4; x <= 4; x += 0.0625) {
                const double right = made(f.function, first, second)(x);
                const double wrong = made(g.function, first, second)(x);
                if (std::fabs(right - wrong) > 1e-4) {
                    ++differences;
                    ASSERT_FALSE(contains(made(f.function, first, second).accepted(x, 0), wrong))
                        << g.name << '(' << x << ") for " << f.name;
                }
            }
            EXPECT_GT(differences, 0) << f.name << " and " << g.name;
        }
    }
}

/// For an argument that is known only to lie within the slack, every value of the function there is accepted.
void expect_range(const Activation& function, double x, double slack) {
    const Interval interval = function.accepted(x, slack);
    constexpr int steps = 64;
    for (int step = -steps; step <= steps; ++step) {
        const double argument = x + slack * step / steps;
        ASSERT_TRUE(contains(interval, function(argument)))
            << functions[static_cast<std::size_t>(function.function)].name << '(' << argument << ") with "
            << function.first << ", " << function.second << " = " << function(argument) << " is not in " << interval.low
            << " … " << interval.high << " for x = " << x << " ± " << slack;
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
        for (int i = 0; i < 20'000; ++i) {
            const Activation function = draw.activation(f);
            const double x = double{draw.argument()};
            const double slack = double{std::exp2(draw.uniform(-22, -2))} * (std::fabs(x) + 1);
            const auto argument = static_cast<float>(x + slack * double{draw.uniform(-1, 1)});
            const float y =
                f.documented(argument, static_cast<float>(function.first), static_cast<float>(function.second));
            if (std::fabs(double{argument} - x) > slack) {
                continue;  // rounded out of it
            }
            const Interval interval = function.accepted(x, slack);
            ASSERT_TRUE(contains(interval, double{y}))
                << f.name << '(' << argument << ") with " << function.first << ", " << function.second << ": " << y
                << " is not in " << interval.low << " … " << interval.high << " for x = " << x << " ± " << slack;
        }
    }
}

/// Kinks, jumps and extrema inside the slack, where the ends do not bound the range.
TEST(Activation, AcceptsTheRangeAcrossKinks) {
    using F = ActivationFunction;
    struct Row {
        Activation activation;
        double kink = 0;
    };
    const Row rows[] = {
        {made(F::relu), 0},
        {made(F::leaky_relu, -0.5), 0},  // V-shaped
        {made(F::elu, -1), 0},
        {made(F::thresholded_relu, 2), 2},    // jumps from 0 to 2
        {made(F::thresholded_relu, -2), -2},  // jumps from 0 to -2
        {made(F::shrink, 0, 1), 1},           // jumps from 0 to 1
        {made(F::shrink, 0, 1), -1},
        {made(F::shrink, 5, 1), 1},  // jumps from 0 to -4
        {made(F::shrink, 5, 1), -1},
        {made(F::hard_sigmoid, 0.25, 0.5), 2},
        {made(F::hard_sigmoid, 0.25, 0.5), -2},
        {made(F::hard_swish, 0.25, 0.5), -1},  // the minimum of x (x / 4 + 1 / 2)
        {made(F::hard_swish, 0.25, 0.5), -2},
        {made(F::hard_swish, 0.25, 0.5), 2},
        {made(F::gelu), -0.7517915246935645},      // its minimum
        {made(F::swish, 1), -1.2784645427610738},  // its minimum
        {made(F::swish, 2), -0.6392322713805369},
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

TEST(Activation, InfinitiesAreNotLost) {
    using F = ActivationFunction;
    struct Row {
        Activation activation;
        double x = 0;
        double y = 0;
    };
    const Row rows[] = {
        {made(F::identity), inf, inf}, {made(F::relu), inf, inf},       {made(F::relu), -inf, 0},
        {made(F::tanh), inf, 1},       {made(F::tanh), -inf, -1},       {made(F::sigmoid), inf, 1},
        {made(F::sigmoid), -inf, 0},   {made(F::elu, 2), -inf, -2},     {made(F::scaled_tanh, 2, 1), inf, 2},
        {made(F::celu, 2), -inf, -2},  {made(F::softplus, 1), -inf, 0},
    };
    for (const Row& row : rows) {
        const Interval interval = row.activation.accepted(row.x, 0);
        EXPECT_TRUE(contains(interval, row.y)) << functions[static_cast<std::size_t>(row.activation.function)].name
                                               << '(' << row.x << "): " << interval.low << " … " << interval.high;
    }
}

}  // namespace
}  // namespace dmlconform::tests

// Tests that the intervals of element-wise operators contain the results of every implementation that keeps to
// Direct3D's guarantees: with or without fused multiply-add, in any order of operations that compilers may choose, with
// or without subnormal numbers, with the largest allowed error of exp, and with variants of formulas that overflow
// earlier than others.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cpu/element_wise/machine.h"

namespace dmlconform::cpu::legal_implementations_test {
namespace {

using element_wise::Context;

/// One of the kinds of FP32 arithmetic that Direct3D allows.
struct Machine {
    bool fuses = false;
    bool flushes = false;
    /// Relative error.
    double exp_error = 0;

    [[nodiscard]] float flushed(float x) const {
        return flushes && std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
    }
    [[nodiscard]] float add(float a, float b) const { return flushed(flushed(a) + flushed(b)); }
    [[nodiscard]] float multiply(float a, float b) const { return flushed(flushed(a) * flushed(b)); }
    [[nodiscard]] float divide(float a, float b) const { return flushed(flushed(a) / flushed(b)); }
    [[nodiscard]] float root(float a) const { return std::sqrt(flushed(a)); }
    /// a * b + c
    [[nodiscard]] float multiply_add(float a, float b, float c) const {
        return fuses ? flushed(std::fma(flushed(a), flushed(b), flushed(c))) : add(multiply(a, b), c);
    }
    [[nodiscard]] float exp2(float x) const {
        return flushed(static_cast<float>(std::exp2(double{flushed(x)}) * (1 + exp_error)));
    }
    [[nodiscard]] float exp(float x) const { return exp2(multiply(x, 1.44269504f)); }
    [[nodiscard]] float log(float x) const { return static_cast<float>(std::log(double{flushed(x)})); }
    [[nodiscard]] float log2(float x) const { return static_cast<float>(std::log2(double{flushed(x)})); }
    [[nodiscard]] float natural_log(float x) const { return multiply(log2(x), 0.693147182f); }
    [[nodiscard]] float modulus(float a, float b, float (*whole)(float)) const {
        return multiply_add(-b, whole(divide(a, b)), a);
    }
    /// Also supports negative bases with integer exponents.
    [[nodiscard]] float power(float base, float exponent) const {
        if (exponent == 0) {
            return 1;
        }
        const float magnitude = exp2(multiply(exponent, log2(std::fabs(base))));
        if (!std::signbit(base)) {
            return magnitude;
        }
        if (exponent != std::nearbyint(exponent)) {
            return base == 0 ? magnitude : std::numeric_limits<float>::quiet_NaN();
        }
        return std::fmod(exponent, 2.0f) != 0 ? -magnitude : magnitude;
    }
};

using Numbers = std::span<const float>;

struct Implementation {
    std::string_view row;
    std::string_view way;
    float (*compute)(const Machine& m, Numbers in, Numbers attributes);
    /// The index of the operator's output.
    std::size_t output = 0;
    /// Whether its functions are much more accurate than Direct3D requires.
    bool is_better_than_granted = false;
};

float sigmoid(const Machine& m, float x) {
    return m.divide(1, m.add(1, m.exp(-x)));
}

/// share * a + (1 - share) * b
float blend(const Machine& m, float a, float b, float share) {
    return m.multiply_add(share, a, m.multiply(m.add(1, -share), b));
}

float tanh(const Machine& m, float x) {
    const float e = m.exp(-2 * std::fabs(x));
    return std::copysign(m.divide(m.add(1, -e), m.add(1, e)), x);
}

float adam_step(const Machine& m, Numbers in, Numbers p) {
    const float moment1 = blend(m, in[1], in[3], p[1]);
    const float moment2 = blend(m, in[2], m.multiply(in[3], in[3]), p[2]);
    const auto correction = [&](float beta) { return in[4] > 0 ? m.add(1, -m.power(beta, in[4])) : 1; };
    const float rate = m.divide(m.multiply(p[0], m.root(correction(p[2]))), correction(p[1]));
    return m.add(in[0], -m.divide(m.multiply(rate, moment1), m.add(m.root(moment2), p[3])));
}

const Implementation implementations[] = {
    {"ELEMENT_WISE_EXP", "by exp2", [](const Machine& m, Numbers in, Numbers) { return m.exp(in[0]); }},
    {"ACTIVATION_SIGMOID", "1 / (1 + exp(-x))",
     [](const Machine& m, Numbers in, Numbers) { return sigmoid(m, in[0]); }},
    {"ACTIVATION_SIGMOID", "exp(x) / (1 + exp(x)) for x < 0",
     [](const Machine& m, Numbers in, Numbers) {
         const float e = m.exp(-std::fabs(in[0]));
         return m.divide(in[0] < 0 ? e : 1, m.add(1, e));
     }},
    {"ACTIVATION_SWISH", "x * sigmoid",
     [](const Machine& m, Numbers in, Numbers p) { return m.multiply(in[0], sigmoid(m, m.multiply(p[0], in[0]))); }},
    {"ACTIVATION_SWISH", "x / (1 + exp(-x))",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.divide(in[0], m.add(1, m.exp(-m.multiply(p[0], in[0]))));
     }},
    {"ACTIVATION_SWISH", "with the scale folded into that of exp2",
     [](const Machine& m, Numbers in, Numbers p) {
         const float e = m.exp2(m.multiply(in[0], m.multiply(p[0], -1.44269504f)));
         return m.multiply(in[0], m.divide(1, m.add(1, e)));
     }},
    {"ELEMENT_WISE_SINH", "(exp(x) - exp(-x)) / 2",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply(m.add(m.exp(in[0]), -m.exp(-in[0])), 0.5f); }},
    {"ELEMENT_WISE_SINH", "each by half",
     [](const Machine& m, Numbers in, Numbers) {
         return m.multiply_add(m.exp(in[0]), 0.5f, -m.multiply(m.exp(-in[0]), 0.5f));
     }},
    {"ELEMENT_WISE_SINH", "without the overflow of exp",
     [](const Machine& m, Numbers in, Numbers) {
         const float half = m.exp2(m.add(m.multiply(std::fabs(in[0]), 1.44269504f), -1));
         return std::copysign(m.add(half, -m.divide(0.25f, half)), in[0]);
     }},
    {"ELEMENT_WISE_COSH", "(exp(x) + exp(-x)) / 2",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply(m.add(m.exp(in[0]), m.exp(-in[0])), 0.5f); }},
    {"ELEMENT_WISE_COSH", "without the overflow of exp",
     [](const Machine& m, Numbers in, Numbers) {
         const float half = m.exp2(m.add(m.multiply(std::fabs(in[0]), 1.44269504f), -1));
         return m.add(half, m.divide(0.25f, half));
     }},
    {"ELEMENT_WISE_TANH", "of |x|",
     [](const Machine& m, Numbers in, Numbers) {
         const float e = m.exp(-2 * std::fabs(in[0]));
         return std::copysign(m.divide(m.add(1, -e), m.add(1, e)), in[0]);
     }},
    {"ACTIVATION_ELU", "as documented",
     [](const Machine& m, Numbers in, Numbers p) {
         return in[0] >= 0 ? in[0] : m.multiply(p[0], m.add(m.exp(in[0]), -1));
     }},
    {"ACTIVATION_ELU", "Alpha * exp(x) - Alpha",
     [](const Machine& m, Numbers in, Numbers p) {
         return in[0] >= 0 ? in[0] : m.multiply_add(p[0], m.exp(in[0]), -p[0]);
     }},
    {"ACTIVATION_SCALED_ELU", "as documented",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.multiply(p[1], in[0] > 0 ? in[0] : m.multiply_add(p[0], m.exp(in[0]), -p[0]));
     }},
    {"ACTIVATION_CELU", "as documented",
     [](const Machine& m, Numbers in, Numbers p) {
         const float e = m.exp(m.divide(in[0], p[0]));
         return m.add(std::max(0.0f, in[0]), std::min(0.0f, m.multiply(p[0], m.add(e, -1))));
     }},
    {"ACTIVATION_SOFTPLUS", "as documented, below the overflow",
     [](const Machine& m, Numbers in, Numbers p) {
         const float x = m.multiply(p[0], in[0]);
         const float y = x < 80 ? m.log(m.add(1, m.exp(x))) : x;
         return m.divide(y, p[0]);
     }},
    {"ACTIVATION_PARAMETRIC_SOFTPLUS", "without overflow",
     [](const Machine& m, Numbers in, Numbers p) {
         const float x = m.multiply(p[1], in[0]);
         return m.multiply(p[0], m.add(std::max(x, 0.0f), m.log(m.add(1, m.exp(-std::fabs(x))))));
     }},
    {"ACTIVATION_LINEAR", "as documented",
     [](const Machine& m, Numbers in, Numbers p) { return m.multiply_add(p[0], in[0], p[1]); }},
    {"ACTIVATION_HARD_SIGMOID", "as documented",
     [](const Machine& m, Numbers in, Numbers p) { return std::clamp(m.multiply_add(p[0], in[0], p[1]), 0.0f, 1.0f); }},
    {"ACTIVATION_HARD_SWISH", "as documented",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.multiply(in[0], std::clamp(m.multiply_add(p[0], in[0], p[1]), 0.0f, 1.0f));
     }},
    {"ACTIVATION_SOFTSIGN", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.divide(in[0], m.add(1, std::fabs(in[0]))); }},
    {"ELEMENT_WISE_MEAN", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply(m.add(in[0], in[1]), 0.5f); }},
    {"ELEMENT_WISE_MEAN", "each by half",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply_add(in[0], 0.5f, m.multiply(in[1], 0.5f)); }},
    {"ELEMENT_WISE_DIFFERENCE_SQUARE", "as documented",
     [](const Machine& m, Numbers in, Numbers) {
         const float difference = m.add(in[0], -in[1]);
         return m.multiply(difference, difference);
     }},
    {"VALUE_SCALE_2D", "as documented",
     [](const Machine& m, Numbers in, Numbers p) { return m.multiply_add(in[0], p[0], in[1]); }},
    {"ELEMENT_WISE_DEQUANTIZE_LINEAR", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply(m.add(in[0], -in[2]), in[1]); }},
    {"DEQUANTIZE", "without a zero point",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply(in[0], in[1]); }},
    {"ADAM_OPTIMIZER", "M', as documented",
     [](const Machine& m, Numbers in, Numbers p) { return blend(m, in[1], in[3], p[1]); }, 1},
    {"ADAM_OPTIMIZER", "M', the other product fused",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.multiply_add(m.add(1, -p[1]), in[3], m.multiply(p[1], in[1]));
     },
     1},
    {"ADAM_OPTIMIZER", "M', as a step towards the gradient",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.multiply_add(m.add(1, -p[1]), m.add(in[3], -in[1]), in[1]);
     },
     1},
    {"ADAM_OPTIMIZER", "V', the square first",
     [](const Machine& m, Numbers in, Numbers p) { return blend(m, in[2], m.multiply(in[3], in[3]), p[2]); }, 2},
    {"ADAM_OPTIMIZER", "V', from left to right",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.multiply_add(p[2], in[2], m.multiply(m.multiply(m.add(1, -p[2]), in[3]), in[3]));
     },
     2},
    {"ADAM_OPTIMIZER", "V', from left to right, the last product fused",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.multiply_add(m.multiply(m.add(1, -p[2]), in[3]), in[3], m.multiply(p[2], in[2]));
     },
     2},
    {"ADAM_OPTIMIZER", "V', as a step towards the square",
     [](const Machine& m, Numbers in, Numbers p) {
         return m.multiply_add(m.add(1, -p[2]), m.multiply_add(in[3], in[3], -in[2]), in[2]);
     },
     2},
    {"ADAM_OPTIMIZER", "X', as documented", [](const Machine& m, Numbers in, Numbers p) { return adam_step(m, in, p); }},
    {"ACTIVATION_GELU", "as documented",
     [](const Machine& m, Numbers in, Numbers) {
         const float share = m.multiply(0.5f, m.add(1, std::erf(m.divide(in[0], 1.41421356f))));
         return m.multiply(in[0], share);
     },
     0, true},
    // A comparison flushes, but what it selects is not computed.
    {"ACTIVATION_LEAKY_RELU", "as documented",
     [](const Machine& m, Numbers in, Numbers p) { return m.flushed(in[0]) >= 0 ? in[0] : m.multiply(p[0], in[0]); }},
    {"ACTIVATION_PARAMETERIZED_RELU", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.flushed(in[0]) >= 0 ? in[0] : m.multiply(in[1], in[0]); }},
    {"ACTIVATION_TANH", "of |x|", [](const Machine& m, Numbers in, Numbers) { return tanh(m, in[0]); }},
    {"ACTIVATION_SCALED_TANH", "of |x|",
     [](const Machine& m, Numbers in, Numbers p) { return m.multiply(p[0], tanh(m, m.multiply(p[1], in[0]))); }},
    {"ACTIVATION_SHRINK", "as documented",
     [](const Machine& m, Numbers in, Numbers p) {
         return in[0] > p[1] ? m.add(in[0], -p[0]) : in[0] < -p[1] ? m.add(in[0], p[0]) : 0;
     }},
    {"ELEMENT_WISE_ADD", "as documented", [](const Machine& m, Numbers in, Numbers) { return m.add(in[0], in[1]); }},
    {"ELEMENT_WISE_ADD1", "as documented", [](const Machine& m, Numbers in, Numbers) { return m.add(in[0], in[1]); }},
    {"ELEMENT_WISE_SUBTRACT", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.add(in[0], -in[1]); }},
    {"ELEMENT_WISE_MULTIPLY", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply(in[0], in[1]); }},
    {"ELEMENT_WISE_DIVIDE", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.divide(in[0], in[1]); }},
    {"ELEMENT_WISE_RECIP", "as documented", [](const Machine& m, Numbers in, Numbers) { return m.divide(1, in[0]); }},
    {"ELEMENT_WISE_SQRT", "as documented", [](const Machine& m, Numbers in, Numbers) { return m.root(in[0]); }},
    {"ELEMENT_WISE_LOG", "by log2",
     [](const Machine& m, Numbers in, Numbers) { return m.multiply(m.log2(in[0]), 0.693147182f); }},
    {"ELEMENT_WISE_POW", "by exp2 and log2",
     [](const Machine& m, Numbers in, Numbers) { return m.power(in[0], in[1]); }},
    {"ELEMENT_WISE_CONSTANT_POW", "by exp2 and log2",
     [](const Machine& m, Numbers in, Numbers p) { return m.power(in[0], p[0]); }},
    {"ELEMENT_WISE_MODULUS_TRUNCATE", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.modulus(in[0], in[1], std::trunc); },
     0,
     true},
    {"ELEMENT_WISE_MODULUS_FLOOR", "as documented",
     [](const Machine& m, Numbers in, Numbers) { return m.modulus(in[0], in[1], std::floor); }},
    {"ELEMENT_WISE_SIN", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::sin(in[0]); }, 0, true},
    {"ELEMENT_WISE_COS", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::cos(in[0]); }, 0, true},
    {"ELEMENT_WISE_TAN", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::tan(in[0]); }, 0, true},
    {"ELEMENT_WISE_ASIN", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::asin(in[0]); }, 0, true},
    {"ELEMENT_WISE_ACOS", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::acos(in[0]); }, 0, true},
    {"ELEMENT_WISE_ATAN", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::atan(in[0]); }, 0, true},
    {"ELEMENT_WISE_ATAN_YX", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::atan2(in[0], in[1]); }, 0, true},
    {"ELEMENT_WISE_ERF", "of the C library",
     [](const Machine&, Numbers in, Numbers) { return std::erf(in[0]); }, 0, true},
    {"ELEMENT_WISE_ASINH", "of |x|",
     [](const Machine& m, Numbers in, Numbers) {
         const float x = std::fabs(in[0]);
         return std::copysign(m.natural_log(m.add(x, m.root(m.multiply_add(x, x, 1)))), in[0]);
     }},
    {"ELEMENT_WISE_ACOSH", "as documented",
     [](const Machine& m, Numbers in, Numbers) {
         return m.natural_log(m.add(in[0], m.root(m.multiply_add(in[0], in[0], -1))));
     }},
    {"ELEMENT_WISE_ATANH", "of |x|",
     [](const Machine& m, Numbers in, Numbers) {
         const float x = std::fabs(in[0]);
         return std::copysign(m.multiply(m.natural_log(m.divide(m.add(1, x), m.add(1, -x))), 0.5f), in[0]);
     }},
};

/// Draws zero, ordinary numbers, tiny ones, and those near which exp overflows or is subnormal.
class Draw {
public:
    float number() {
        const float kind = uniform(0, 1);
        const float sign = uniform(0, 1) < 0.5f ? -1.0f : 1.0f;
        return sign * (kind < 0.1f   ? 0.0f
                       : kind < 0.5f ? std::exp2(uniform(-4, 4))
                       : kind < 0.6f ? std::exp2(uniform(-130, -10))
                                     : uniform(85, 105));
    }
    float attribute() { return uniform(0, 1) < 0.5f ? 1.0f : uniform(0.1f, 2); }
    float share() { return uniform(0, 1) < 0.5f ? 0.999f : uniform(0, 1); }
    float uniform(float low, float high) { return std::uniform_real_distribution<float>(low, high)(generator_); }

private:
    std::mt19937 generator_{13};
};

/// Elements and attributes.
struct Arguments {
    std::vector<float> in;
    std::array<float, element_wise::most_attributes> attributes{};

    Arguments(const element_wise::Row& row, Draw& draw) : in(row.inputs) {
        const bool adam = row.name == "ADAM_OPTIMIZER";
        std::generate(in.begin(), in.end(), [&] { return draw.number(); });
        std::generate(attributes.begin(), attributes.end(), [&] { return adam ? draw.share() : draw.attribute(); });
    }

    /// One of the row's results.
    template <class Number>
    [[nodiscard]] Number result(const element_wise::Row& row, element_wise::Loop<Number> loop,
                                std::size_t output) const {
        const auto number = [](float x) { return Number(double{x}); };
        std::vector<Number> arguments;
        std::transform(in.begin(), in.end(), std::back_inserter(arguments), number);
        std::vector<const Number*> from;
        std::transform(arguments.begin(), arguments.end(), std::back_inserter(from), [](const auto& x) { return &x; });
        std::vector<Number> results(row.outputs);
        std::vector<Number*> to;
        std::transform(results.begin(), results.end(), std::back_inserter(to), [](auto& x) { return &x; });
        Context<Number> context;
        std::transform(attributes.begin(), attributes.end(), context.attributes.begin(), number);
        loop(from, to, 1, context);
        return results[output];
    }
};

/// Uses the same arguments for all machines, because computing the range takes longest.
void expect_inside(const Implementation& implementation, const std::vector<Machine>& machines, Draw& draw) {
    const element_wise::Row& row = *element_wise::find_row(implementation.row);
    const Arguments arguments(row, draw);
    const auto& [in, attributes] = arguments;
    const Interval range = arguments.result(row, row.interval, implementation.output);
    for (const Machine& machine : machines) {
        const float result = implementation.compute(machine, in, attributes);
        ASSERT_TRUE(range.contains(double{result}))
            << implementation.row << " by " << implementation.way << (machine.fuses ? ", fused" : "")
            << (machine.flushes ? ", flushed" : "") << ", exp off by " << machine.exp_error << ": " << result
            << " is not in " << range.low << " … " << range.high << (range.nan ? " or NaN" : "") << " for "
            << testing::PrintToString(in) << " with " << testing::PrintToString(attributes);
    }
}

// 2^-21, less the error of rounding the result to FP32.
constexpr double largest_exp_error = 0x1p-21 - 0x1p-24;

TEST(LegalImplementations, AreInside) {
    constexpr double error = largest_exp_error;
    std::vector<Machine> machines;
    for (const bool fuses : {false, true}) {
        for (const bool flushes : {false, true}) {
            for (const double exp_error : {-error, 0.0, error}) {
                machines.push_back({fuses, flushes, exp_error});
            }
        }
    }
    for (const Implementation& implementation : implementations) {
        Draw draw;
        for (int i = 0; i < 10'000; ++i) {
            expect_inside(implementation, machines, draw);
        }
    }
}

/// The root mean square of error / expected error.
struct Quotients {
    int count = 0;
    double squares = 0;

    void add(double error, double expected) {
        squares += error * error / (expected * expected);
        ++count;
    }
    [[nodiscard]] double q() const { return std::sqrt(squares / count); }
};

/// Errors of correct implementations are as large as expected or smaller. Those of functions that are more accurate
/// than Direct3D requires are much smaller.
TEST(LegalImplementations, AreOffByWhatIsExpected) {
    for (const Implementation& implementation : implementations) {
        const element_wise::Row& row = *element_wise::find_row(implementation.row);
        for (const Machine& machine :
             {Machine{}, Machine{.fuses = true}, Machine{.flushes = true}, Machine{.exp_error = largest_exp_error}}) {
            Draw draw;
            Quotients quotients;
            for (int i = 0; i < 3000; ++i) {
                const Arguments arguments(row, draw);
                const double expected = expected_error(arguments.result(row, row.interval, implementation.output));
                const float result = implementation.compute(machine, arguments.in, arguments.attributes);
                if (expected > 0) {
                    quotients.add(double{result} - arguments.result(row, row.real, implementation.output), expected);
                }
            }
            const std::string name = std::string(implementation.row) + " by " + std::string(implementation.way) +
                                     (machine.fuses ? ", fused" : "") + (machine.flushes ? ", flushed" : "") +
                                     (machine.exp_error != 0 ? ", exp is off" : "");
            EXPECT_GE(quotients.count, 300) << name;
            EXPECT_LT(quotients.q(), 2) << name;
            EXPECT_GE(quotients.q(), implementation.is_better_than_granted ? 0 : 0.05) << name;
        }
    }
}

TEST(LegalImplementations, AreThereForEveryFormulaThatRounds) {
    // These operators do not round, or store rounded results as integers.
    const std::set<std::string_view> others{"ACTIVATION_IDENTITY",
                                            "ACTIVATION_RELU",
                                            "ACTIVATION_RELU_GRAD",
                                            "ACTIVATION_THRESHOLDED_RELU",
                                            "CAST",
                                            "ELEMENT_WISE_ABS",
                                            "ELEMENT_WISE_CEIL",
                                            "ELEMENT_WISE_CLIP",
                                            "ELEMENT_WISE_CLIP1",
                                            "ELEMENT_WISE_CLIP_GRAD",
                                            "ELEMENT_WISE_CLIP_GRAD1",
                                            "ELEMENT_WISE_FLOOR",
                                            "ELEMENT_WISE_IDENTITY",
                                            "ELEMENT_WISE_IS_INFINITY",
                                            "ELEMENT_WISE_IS_NAN",
                                            "ELEMENT_WISE_LOGICAL_EQUALS",
                                            "ELEMENT_WISE_LOGICAL_GREATER_THAN",
                                            "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL",
                                            "ELEMENT_WISE_LOGICAL_LESS_THAN",
                                            "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL",
                                            "ELEMENT_WISE_MAX",
                                            "ELEMENT_WISE_MIN",
                                            "ELEMENT_WISE_NEGATE",
                                            "ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
                                            "ELEMENT_WISE_QUANTIZE_LINEAR",
                                            "ELEMENT_WISE_ROUND",
                                            "ELEMENT_WISE_SIGN",
                                            "ELEMENT_WISE_THRESHOLD",
                                            "QUANTIZE"};
    for (const auto& [name, row] : element_wise::all_rows()) {
        const bool is_there = std::any_of(std::begin(implementations), std::end(implementations),
                                          [&name = name](const Implementation& known) { return known.row == name; });
        EXPECT_NE(is_there, row.interval == nullptr || others.contains(name)) << name;
    }
}

}  // namespace
}  // namespace dmlconform::cpu::legal_implementations_test

// The intervals of element-wise operators hold what implementations compute that keep to Direct3D's guarantees: with
// products and sums fused or not, in any order that compilers may choose, with subnormal numbers flushed or not, with
// exp as far off as it may be, and with ways of writing a formula that overflow earlier than others.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "engine/cpu/element_wise/machine.h"

namespace dmlconform::cpu::legal_implementations_test {
namespace {

using element_wise::Context;

/// FP32 arithmetic of one of Direct3D's kinds.
struct Machine {
    bool fuses = false;
    bool flushes = false;
    /// Relative.
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
};

using Numbers = std::span<const float>;

struct Implementation {
    std::string_view row;
    std::string_view way;
    float (*compute)(const Machine& m, Numbers in, Numbers attributes);
    /// Which of the operator's outputs it is.
    std::size_t output = 0;
};

float sigmoid(const Machine& m, float x) {
    return m.divide(1, m.add(1, m.exp(-x)));
}

/// share * a + (1 - share) * b
float blend(const Machine& m, float a, float b, float share) {
    return m.multiply_add(share, a, m.multiply(m.add(1, -share), b));
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
};

/// Zero, ordinary numbers, tiny ones, and those around which exp overflows or is subnormal.
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

/// The same arguments for all machines, since the range takes the longest.
void expect_inside(const Implementation& implementation, const std::vector<Machine>& machines, Draw& draw) {
    const element_wise::Row& row = *element_wise::find_row(implementation.row);
    const bool adam = row.name == "ADAM_OPTIMIZER";
    std::vector<float> in(row.inputs);
    std::array<float, element_wise::most_attributes> attributes{};
    std::generate(in.begin(), in.end(), [&] { return draw.number(); });
    std::generate(attributes.begin(), attributes.end(), [&] { return adam ? draw.share() : draw.attribute(); });
    std::vector<Interval> arguments;
    std::transform(in.begin(), in.end(), std::back_inserter(arguments), [](float x) { return Interval(double{x}); });
    std::vector<const Interval*> from;
    std::transform(arguments.begin(), arguments.end(), std::back_inserter(from), [](const auto& x) { return &x; });
    std::vector<Interval> results(row.outputs);
    std::vector<Interval*> to;
    std::transform(results.begin(), results.end(), std::back_inserter(to), [](auto& x) { return &x; });
    Context<Interval> context;
    std::transform(attributes.begin(), attributes.end(), context.attributes.begin(),
                   [](float x) { return Interval(double{x}); });
    row.interval(from, to, 1, context);
    const Interval& range = results[implementation.output];
    for (const Machine& machine : machines) {
        const float result = implementation.compute(machine, in, attributes);
        ASSERT_TRUE(range.contains(double{result}))
            << implementation.row << " by " << implementation.way << (machine.fuses ? ", fused" : "")
            << (machine.flushes ? ", flushed" : "") << ", exp off by " << machine.exp_error << ": " << result
            << " is not in " << range.low << " … " << range.high << (range.nan ? " or NaN" : "") << " for "
            << testing::PrintToString(in) << " with " << testing::PrintToString(attributes);
    }
}

TEST(LegalImplementations, AreInside) {
    // What is left of 2^-21 when the result is rounded to FP32.
    constexpr double error = 0x1p-21 - 0x1p-24;
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

}  // namespace
}  // namespace dmlconform::cpu::legal_implementations_test

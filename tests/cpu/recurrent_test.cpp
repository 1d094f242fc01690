// Tests of engine/cpu/recurrent beyond what cases can check: the bounds include the results of FP32 implementations
// that sum in other orders, and are not much wider.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/cpu/recurrent/sequence.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/error_statistics.h"
#include "tests/cpu/random_tensors.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::recurrent_test {
namespace {

using core::Tensor;
using operators::Descriptor;
using operators::OperatorDescArray;
using Floats = std::vector<float>;

/// A network with one batch and one direction.
struct Net {
    std::uint32_t gates = 1;
    std::uint32_t steps = 1;
    std::uint32_t inputs = 1;
    std::uint32_t hidden = 1;
    Floats input, weights, recurrence, bias;

    Net(Random& random, std::uint32_t gate_count, std::uint32_t step_count)
        : gates(gate_count), steps(step_count), inputs(random.pick(1U, 9U)), hidden(random.pick(1U, 9U)) {
        const auto numbers = [&](std::size_t count, float largest) {
            Floats result(count);
            for (float& number : result) {
                number = random.uniform(-largest, largest);
            }
            return result;
        };
        input = numbers(std::size_t{steps} * inputs, 2);
        weights = numbers(std::size_t{gates} * hidden * inputs, 1);
        recurrence = numbers(std::size_t{gates} * hidden * hidden, 1);
        bias = numbers(std::size_t{2} * gates * hidden, 1);
    }

    /// A gate in FP32: sums the states first, then the inputs in reverse, then the biases.
    [[nodiscard]] float gate(std::size_t which, std::size_t unit, std::size_t step, const Floats& states) const {
        const std::size_t row = which * hidden + unit;
        float sum = 0;
        for (std::size_t k = 0; k < hidden; ++k) {
            sum = std::fma(recurrence[row * hidden + k], states[k], sum);
        }
        for (std::size_t i = inputs; i-- > 0;) {
            sum += weights[row * inputs + i] * input[step * inputs + i];
        }
        return sum + (bias[row] + bias[gates * hidden + row]);
    }
};

float sigmoid(float x) {
    return 1 / (1 + std::exp(-x));
}

Floats rnn(const Net& net) {
    Floats states(net.hidden), all;
    for (std::size_t t = 0; t < net.steps; ++t) {
        Floats next(net.hidden);
        for (std::size_t u = 0; u < net.hidden; ++u) {
            next[u] = std::tanh(net.gate(0, u, t, states));
        }
        states = next;
        all.insert(all.end(), states.begin(), states.end());
    }
    return all;
}

template <class Gate, class New>
Floats gru_of(const Net& net, Gate gate, New fresh_of) {
    Floats states(net.hidden), all;
    for (std::size_t t = 0; t < net.steps; ++t) {
        Floats update(net.hidden), reset(net.hidden), next(net.hidden);
        for (std::size_t u = 0; u < net.hidden; ++u) {
            update[u] = gate(net.gate(0, u, t, states));
            reset[u] = gate(net.gate(1, u, t, states)) * states[u];
        }
        for (std::size_t u = 0; u < net.hidden; ++u) {
            const float fresh = fresh_of(net.gate(2, u, t, reset));
            next[u] = fresh + update[u] * (states[u] - fresh);
        }
        states = next;
        all.insert(all.end(), states.begin(), states.end());
    }
    return all;
}

Floats gru(const Net& net) {
    return gru_of(net, sigmoid, [](float x) { return std::tanh(x); });
}

Floats unlimited_gru(const Net& net) {
    const auto identity = [](float x) { return x; };
    return gru_of(net, identity, identity);
}

Floats lstm(const Net& net) {
    Floats states(net.hidden), cells(net.hidden), all;
    for (std::size_t t = 0; t < net.steps; ++t) {
        Floats next(net.hidden);
        for (std::size_t u = 0; u < net.hidden; ++u) {
            const float fresh = sigmoid(net.gate(0, u, t, states)) * std::tanh(net.gate(3, u, t, states));
            cells[u] = std::fma(sigmoid(net.gate(2, u, t, states)), cells[u], fresh);
            next[u] = sigmoid(net.gate(1, u, t, states)) * std::tanh(cells[u]);
        }
        states = next;
        all.insert(all.end(), states.begin(), states.end());
    }
    return all;
}

struct Kind {
    std::string_view op;
    std::uint32_t gates;
    std::vector<std::string_view> activations;
    Floats (*compute)(const Net& net);
};

const Kind kinds[] = {{"RNN", 1, {"ACTIVATION_TANH"}, rnn},
                      {"GRU", 3, {"ACTIVATION_SIGMOID", "ACTIVATION_TANH"}, gru},
                      {"LSTM", 4, {"ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"}, lstm}};

cpu::Reference reference_of(const Kind& kind, const Net& net) {
    OperatorDescArray activations;
    for (const std::string_view name : kind.activations) {
        activations.items.push_back(activation(name));
    }
    const Descriptor descriptor =
        describe(kind.op, {{"InputTensor", real({1, net.steps, 1, net.inputs})},
                           {"WeightTensor", real({1, 1, net.gates * net.hidden, net.inputs})},
                           {"RecurrenceTensor", real({1, 1, net.gates * net.hidden, net.hidden})},
                           {"BiasTensor", real({1, 1, 1, 2 * net.gates * net.hidden})},
                           {"OutputSequenceTensor", real({net.steps, 1, 1, net.hidden})},
                           {"ActivationDescs", activations}});
    const Tensor tensors[] = {tensor_of<float>(*descriptor.tensor("InputTensor"), net.input),
                              tensor_of<float>(*descriptor.tensor("WeightTensor"), net.weights),
                              tensor_of<float>(*descriptor.tensor("RecurrenceTensor"), net.recurrence),
                              tensor_of<float>(*descriptor.tensor("BiasTensor"), net.bias)};
    std::vector<const Tensor*> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        const auto position = inputs.size();
        inputs.push_back(slot.desc == nullptr ? nullptr : &tensors[position]);
    }
    return cpu::compute_reference(descriptor, inputs);
}

TEST(Recurrent, BoundsHoldOtherOrders) {
    Random random(1);
    for (const Kind& kind : kinds) {
        for (int turn = 0; turn < 60; ++turn) {
            const Net net(random, kind.gates, random.pick(1U, 6U));
            const cpu::Reference reference = reference_of(kind, net);
            const Floats values = values_of<float>(reference.outputs[0]);
            const Floats others = kind.compute(net);
            for (std::size_t i = 0; i < values.size(); ++i) {
                EXPECT_GE(others[i], double{values[i]} - reference.slack[0].below[i]) << kind.op << " " << i;
                EXPECT_LE(others[i], double{values[i]} + reference.slack[0].above[i]) << kind.op << " " << i;
            }
        }
    }
}

/// Uses sequential sums, and functions of the C library, which are more accurate than Direct3D requires.
TEST(Recurrent, HonestOnesAreOffByWhatIsExpected) {
    Random random(4);
    for (const Kind& kind : kinds) {
        for (const std::uint32_t steps : {1U, 10U}) {
            ErrorStatisticsOfAll all;
            for (int turn = 0; turn < 60; ++turn) {
                const Net net(random, kind.gates, steps);
                all.add(reference_of(kind, net), kind.compute(net));
            }
            const ErrorStatistics statistics = all.result();
            EXPECT_GE(statistics.count, 200U) << kind.op;
            EXPECT_GT(statistics.q, 0.05) << kind.op << ", " << steps << " steps";
            EXPECT_LT(statistics.q, 2) << kind.op << ", " << steps << " steps";
        }
    }
}

/// Gates and states grow together, and so do their errors, which come from the same ones.
TEST(Recurrent, HonestOnesThatGrowAreOffByWhatIsExpected) {
    const Kind unlimited{"GRU", 3, {"ACTIVATION_IDENTITY", "ACTIVATION_IDENTITY"}, unlimited_gru};
    Random random(5);
    for (int turn = 0; turn < 200; ++turn) {
        const Net net(random, unlimited.gates, 6);
        ErrorStatisticsOfAll all;
        all.add(reference_of(unlimited, net), unlimited.compute(net));
        EXPECT_LT(all.result().q, 5.7) << "turn " << turn;
    }
}

TEST(Recurrent, ErrorsAddUpInGatesBeyondOne) {
    const cpu::Interval two(1.9, 2.1, false, 2, 1e-4);
    const cpu::Interval half(0.4, 0.6, false, 0.5, 1e-4);
    EXPECT_NEAR(std::sqrt(cpu::recurrent::amplified(two, half).variance), 0.02 + 0.005, 1e-4);
    EXPECT_NEAR(cpu::recurrent::amplified(half, two).variance, 0.02 * 0.02 + 0.005 * 0.005, 1e-6);
    EXPECT_EQ(cpu::recurrent::amplified(two, half).low, (two * half).low);
}

/// A flat part of the function hides errors that leave it: at a state of 8, tanh has a derivative of 0, but an error of
/// 10 reaches its other end.
TEST(Recurrent, FarErrorsAreNotPropagatedByTheDerivative) {
    const operators::OperatorDesc descriptor = activation("ACTIVATION_TANH");
    const cpu::element_wise::FusedActivation tanh(descriptor.get());
    const cpu::Interval near(7.9, 8.1, false, 8, 1e-4);
    EXPECT_LT(cpu::recurrent::with_far_errors(tanh(near), near, tanh).variance, 1e-9);
    const cpu::Interval far(-20, 30, false, 8, 100);
    EXPECT_LT(tanh(far).variance, 1e-6);
    EXPECT_NEAR(std::sqrt(cpu::recurrent::with_far_errors(tanh(far), far, tanh).variance), 2.0 / 6, 1e-3);
}

/// One step consists of two functions and a few dozen roundings of numbers around 1.
TEST(Recurrent, BoundsOfOneStepAreNarrow) {
    Random random(2);
    for (const Kind& kind : kinds) {
        for (int turn = 0; turn < 60; ++turn) {
            const cpu::Reference reference = reference_of(kind, Net(random, kind.gates, 1));
            for (std::size_t i = 0; i < reference.slack[0].below.size(); ++i) {
                EXPECT_LT(reference.slack[0].below[i] + reference.slack[0].above[i], 5e-4) << kind.op;
            }
        }
    }
}

/// A network whose values are unbounded: from some step on the bounds are infinite, and the comparison accepts any
/// result.
TEST(Recurrent, BoundsOfWhatOverflowsHoldEverything) {
    const Kind unlimited{"GRU", 3, {"ACTIVATION_IDENTITY", "ACTIVATION_IDENTITY"}, gru};
    Random random(3);
    for (int turn = 0; turn < 20; ++turn) {
        Net net(random, unlimited.gates, 12);
        for (float& number : net.input) {
            number *= 1e6f;
        }
        const cpu::Reference reference = reference_of(unlimited, net);
        const Floats values = values_of<float>(reference.outputs[0]);
        for (std::size_t i = values.size() - net.hidden; i < values.size(); ++i) {
            const core::ElementSlack& slack = reference.slack[0];
            ASSERT_FALSE(std::isnan(values[i])) << turn;
            EXPECT_TRUE(std::isinf(values[i]) ? slack.finite[i] == 1 : std::isinf(slack.below[i] + slack.above[i]))
                << turn << ": " << values[i];
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::recurrent_test

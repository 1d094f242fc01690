// RNN, LSTM and GRU. The documentation shows their equations as images, which are those of ONNX's operators of the
// same names.
// docs/findings/directml-1.15.4-recurrent.md says what DirectML 1.15.4 was measured to do beyond them.
#include "engine/cpu/definitions/activation.h"

namespace dmlconform::cpu::definitions::recurrent_definitions {
namespace {

template <class Real>
using Units = std::vector<Real>;

/// A number that later steps use. Beyond 1e100, which all types store as an infinity, it stays finite, so that it
/// cannot cancel another one to NaN.
template <class Real>
Real in_range(const Real& x) {
    constexpr double far_out = 1e100;
    return is_infinite(x) ? x : select(x > far_out, Real(far_out), select(x < -far_out, Real(-far_out), x));
}

/// One sequence in one direction, with the numbers of all gates.
template <class Real>
struct Network {
    Network(const Call& its_call, std::int64_t its_gates)
        : call(its_call),
          gates(its_gates),
          hidden(call.sizes("RecurrenceTensor")[3]),
          input(call.input<Real>("InputTensor")),
          weights(call.input<Real>("WeightTensor")),
          recurrence(call.input<Real>("RecurrenceTensor")),
          bias(call.input<Real>("BiasTensor")) {}

    const Call& call;
    std::int64_t gates;
    std::int64_t hidden;
    Array<Real> input;
    Array<Real> weights;
    Array<Real> recurrence;
    Array<Real> bias;
    std::int64_t direction = 0;
    std::int64_t sequence = 0;

    /// The bias of the product with the input (part 0), or with the state (part 1).
    [[nodiscard]] Real bias_of(std::int64_t part, std::int64_t gate, std::int64_t unit) const {
        const std::int64_t row = (2 * direction + part) * gates + gate;
        return call.has("BiasTensor") ? bias.elements[static_cast<std::size_t>(row * hidden + unit)] : Real(0);
    }
    /// x W + bias
    [[nodiscard]] Real input_part(std::int64_t gate, std::int64_t unit, std::int64_t step) const {
        Real sum = bias_of(0, gate, unit);
        for (std::int64_t i = 0; i < input.sizes[3]; ++i) {
            sum += input[{0, step, sequence, i}] * weights[{0, direction, gate * hidden + unit, i}];
        }
        return sum;
    }
    /// h R + bias
    [[nodiscard]] Real state_part(std::int64_t gate, std::int64_t unit, const Units<Real>& h) const {
        Real sum = bias_of(1, gate, unit);
        for (std::int64_t i = 0; i < hidden; ++i) {
            sum += h[static_cast<std::size_t>(i)] * recurrence[{0, direction, gate * hidden + unit, i}];
        }
        return sum;
    }
    /// The activation functions of a direction come one after another. NaN stays NaN.
    [[nodiscard]] Real activated(std::int64_t which, const Real& x) const {
        const auto& all = call.descriptor.get<operators::OperatorDescArray>("ActivationDescs").items;
        const std::int64_t of_each = gates == 1 ? 1 : gates - 1;
        const Descriptor& one = *all[static_cast<std::size_t>(direction * of_each + which)];
        return is_nan(x) ? x : in_range(activation(without_prefix(one.schema->short_name()), one, in_range(x)));
    }
};

/// Runs all sequences in all directions. step(network, step, h, c) replaces the states h and c by the next ones.
template <class Real, class Step>
void run(Call& call, std::int64_t gates, const Step& step) {
    using Direction = operators::RecurrentNetworkDirection;
    const auto direction = enumerator<Direction>(call.descriptor, "Direction");
    Network<Real> network(call, gates);
    const std::int64_t steps = network.input.sizes[1];
    const Index states{1, direction == Direction::bidirectional ? 2 : 1, network.input.sizes[2], network.hidden};
    const auto lengths = call.input<Unsigned>("SequenceLengthsTensor", Unsigned(steps));
    const auto start = [&](std::string_view name) {
        return call.has(name) ? call.input<Real>(name) : Array<Real>(states);
    };
    const Array<Real> first_h = start("HiddenInitTensor");
    const Array<Real> first_c = start("CellMemInitTensor");
    Array<Real> all(states.with(0, steps));
    Array<Real> last_h(states);
    Array<Real> last_c(states);
    for_each_index({states[1], states[2]}, [&](const Index& which) {
        network.direction = which[0];
        network.sequence = which[1];
        const bool backward = direction == Direction::backward || which[0] == 1;
        const auto said = static_cast<std::int64_t>(lengths.of(which[1]).value);
        const std::int64_t length = std::min(said, steps);
        Units<Real> h;
        Units<Real> c;
        for (std::int64_t unit = 0; unit < network.hidden; ++unit) {
            h.push_back(first_h[{0, which[0], which[1], unit}]);
            c.push_back(first_c[{0, which[0], which[1], unit}]);
        }
        for (std::int64_t taken = 0; taken < length; ++taken) {
            const std::int64_t at = backward ? length - 1 - taken : taken;
            step(network, at, h, c);
            for (std::int64_t unit = 0; unit < network.hidden; ++unit) {
                all[{at, which[0], which[1], unit}] = h[static_cast<std::size_t>(unit)];
            }
        }
        // A forward sequence whose length names no step ends with zeros.
        const bool has_last = backward || (said >= 1 && said <= steps);
        for (std::int64_t unit = 0; unit < network.hidden; ++unit) {
            const Index to{0, which[0], which[1], unit};
            last_h[to] = has_last ? h[static_cast<std::size_t>(unit)] : Real(0);
            last_c[to] = c[static_cast<std::size_t>(unit)];
        }
    });
    const auto put = [&](std::string_view name, const Array<Real>& numbers) {
        if (call.has(name)) {
            call.output<Real>(name) = numbers;
        }
    };
    put("OutputSequenceTensor", all);
    put("OutputSingleTensor", last_h);
    put("OutputCellSingleTensor", last_c);
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_rnn_operator_desc
// h' = f(x W + h R + biases)
constexpr auto rnn = []<class Real>(Call& call) {
    run<Real>(call, 1, [](const Network<Real>& network, std::int64_t step, Units<Real>& h, Units<Real>& /*c*/) {
        const Units<Real> before = h;
        for (std::int64_t unit = 0; unit < network.hidden; ++unit) {
            h[static_cast<std::size_t>(unit)] =
                network.activated(0, network.input_part(0, unit, step) + network.state_part(0, unit, before));
        }
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_lstm_operator_desc
// i, o and f = f(x W + h R + biases + peephole c), where o uses the next c; c' = f c + i g(x W + h R + biases), and
// h' = o h(c'). With CoupleInputForget, f = 1 - i. The arguments of f and g are clipped.
constexpr auto lstm = []<class Real>(Call& call) {
    const auto peepholes = call.input<Real>("PeepholeTensor");
    const Real threshold = call.number("ClipThreshold");
    run<Real>(call, 4, [&](const Network<Real>& network, std::int64_t step, Units<Real>& h, Units<Real>& c) {
        enum Gate : std::int64_t { in, out, forget, fresh };
        const Units<Real> before = h;
        const auto sum = [&](Gate which, std::int64_t unit, const Real& cell) {
            Real x = network.input_part(which, unit, step) + network.state_part(which, unit, before);
            if (which != fresh && call.has("PeepholeTensor")) {
                const std::int64_t number = (3 * network.direction + which) * network.hidden + unit;
                x += peepholes.elements[static_cast<std::size_t>(number)] * cell;
            }
            return call.flag("UseClipThreshold") ? min(max(x, -threshold), threshold) : x;
        };
        for (std::int64_t unit = 0; unit < network.hidden; ++unit) {
            Real& cell = c[static_cast<std::size_t>(unit)];
            const Real i = network.activated(0, sum(in, unit, cell));
            const Real f = call.flag("CoupleInputForget") ? Real(1) - i : network.activated(0, sum(forget, unit, cell));
            cell = in_range(f * cell + i * network.activated(1, sum(fresh, unit, cell)));
            h[static_cast<std::size_t>(unit)] =
                in_range(network.activated(0, sum(out, unit, cell)) * network.activated(2, cell));
        }
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_gru_operator_desc
// z and r = f(x W + h R + biases), n = g(x W + (r h) R + biases), h' = (1 - z) n + z h. With LinearBeforeReset,
// n = g(x W + bias + r (h R + bias)).
constexpr auto gru = []<class Real>(Call& call) {
    const bool linear_before_reset = call.flag("LinearBeforeReset");
    run<Real>(call, 3, [&](const Network<Real>& network, std::int64_t step, Units<Real>& h, Units<Real>& /*c*/) {
        enum Gate : std::int64_t { update, reset, fresh };
        const Units<Real> before = h;
        const auto gate = [&](Gate which, std::int64_t unit) {
            return network.activated(0,
                                     network.input_part(which, unit, step) + network.state_part(which, unit, before));
        };
        Units<Real> kept = before;
        for (std::int64_t unit = 0; unit < network.hidden; ++unit) {
            kept[static_cast<std::size_t>(unit)] = gate(reset, unit) * before[static_cast<std::size_t>(unit)];
        }
        for (std::int64_t unit = 0; unit < network.hidden; ++unit) {
            const Real of_state = linear_before_reset ? gate(reset, unit) * network.state_part(fresh, unit, before)
                                                      : network.state_part(fresh, unit, kept);
            const Real n = network.activated(1, network.input_part(fresh, unit, step) + of_state);
            const Real z = gate(update, unit);
            h[static_cast<std::size_t>(unit)] =
                in_range((Real(1) - z) * n + z * before[static_cast<std::size_t>(unit)]);
        }
    });
};

}  // namespace

Definitions definitions() {
    return {define("RNN", rnn), define("LSTM", lstm), define("GRU", gru)};
}

}  // namespace dmlconform::cpu::definitions::recurrent_definitions

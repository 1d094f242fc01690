// One step of RNN, GRU and LSTM. The documentation shows the equations as images; they are ONNX's, and DirectML 1.15.4
// was measured to compute them. Equals definitions/recurrent.cpp.
#include "engine/cpu/recurrent/sequence.h"
#include "engine/cpu/variants.h"

namespace dmlconform::cpu::cells_kernels {
namespace {

using namespace recurrent;

/// h' = f(x W + h R + biases)
template <class Arithmetic>
class RnnCell : public CellBase<Arithmetic> {
public:
    static constexpr std::int64_t gates = 1;
    using typename CellBase<Arithmetic>::Number;

    RnnCell(const DirectedSequence& directed, Arithmetic arithmetic, const operators::Descriptor& /*descriptor*/)
        : CellBase<Arithmetic>(directed, arithmetic) {}

    void step(std::span<const double> input) {
        std::vector<Number> next = this->states_;
        for (std::int64_t unit = 0; unit < this->units(); ++unit) {
            next[static_cast<std::size_t>(unit)] =
                this->activated(0, this->gate_sum(0, unit, input, this->states_).result());
        }
        this->states_ = std::move(next);
    }
};

/// z and r = f(x W + h R + biases), n = g(x W + (r h) R + biases), h' = (1 - z) n + z h.
template <class Arithmetic>
class GruCell : public CellBase<Arithmetic> {
public:
    static constexpr std::int64_t gates = 3;
    using typename CellBase<Arithmetic>::Number;
    using typename CellBase<Arithmetic>::Sum;

    GruCell(const DirectedSequence& directed, Arithmetic arithmetic, const operators::Descriptor& descriptor)
        : CellBase<Arithmetic>(directed, arithmetic), linear_before_reset_(descriptor.uint("LinearBeforeReset") != 0) {}

    void step(std::span<const double> input) {
        const std::vector<Number> update = gate_values(update_gate, input);
        const std::vector<Number> reset = gate_values(reset_gate, input);
        std::vector<Number> rest = this->states_;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            rest[i] = this->lacks_states() ? rest[i] : this->stored(amplified(reset[i], rest[i]));
        }
        std::vector<Number> next = this->states_;
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto unit = static_cast<std::int64_t>(i);
            const Number candidate =
                this->activated(1, linear_before_reset_ ? reset_after_product(unit, input, reset[i])
                                                        : this->gate_sum(new_gate, unit, input, rest).result());
            next[i] = blended(update[i], candidate, this->states_[i]);
        }
        this->states_ = std::move(next);
    }

private:
    enum Gate : std::int64_t { update_gate, reset_gate, new_gate };

    [[nodiscard]] std::vector<Number> gate_values(std::int64_t gate, std::span<const double> input) const {
        std::vector<Number> values(this->states_.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] =
                this->activated(0, this->gate_sum(gate, static_cast<std::int64_t>(i), input, this->states_).result());
        }
        return values;
    }

    /// x W + bias + r (h R + bias)
    [[nodiscard]] Number reset_after_product(std::int64_t unit, std::span<const double> input,
                                             const Number& reset) const {
        const Network& network = this->network();
        const std::int64_t direction = this->directed_.direction;
        Sum of_states = this->arithmetic_.sum();
        this->add_state_part(of_states, new_gate, unit, this->states_);
        Sum all = this->input_part(new_gate, unit, input);
        if (network.has_bias()) {
            of_states.begin_part();
            of_states.add(network.state_bias(direction, new_gate, unit));
            all.begin_part();
            all.add(network.input_bias(direction, new_gate, unit));
        }
        all.begin_part();
        all.add_product(reset, this->stored(of_states.result()));
        return all.result();
    }

    /// Implementations may also compute n + z (h - n).
    [[nodiscard]] Number blended(const Number& update, const Number& candidate, const Number& state) const {
        const auto stored = [this](const Number& x) { return this->stored(x); };
        const Number kept = stored(amplified(update, state));
        const Number taken = stored(amplified(stored(1 - update), candidate));
        const Number change = stored(amplified(update, stored(state - candidate)));
        return this->carried(this->arithmetic_.either(taken + kept, candidate + change));
    }

    bool linear_before_reset_;
};

/// i, o, f = f(x W + h R + biases + peephole c), where o uses the new c; c' = f c + i g(x W + h R + biases), h' = o
/// h(c').
template <class Arithmetic>
class LstmCell : public CellBase<Arithmetic> {
public:
    static constexpr std::int64_t gates = 4;
    using typename CellBase<Arithmetic>::Number;
    using typename CellBase<Arithmetic>::Sum;

    LstmCell(const DirectedSequence& directed, Arithmetic arithmetic, const operators::Descriptor& descriptor)
        : CellBase<Arithmetic>(directed, arithmetic),
          clips_(descriptor.uint("UseClipThreshold") != 0),
          couples_(descriptor.uint("CoupleInputForget") != 0),
          threshold_(double{descriptor.number("ClipThreshold")}) {}

    void step(std::span<const double> input) {
        const std::vector<Number> states = this->states_;
        for (std::size_t i = 0; i < states.size(); ++i) {
            const auto unit = static_cast<std::int64_t>(i);
            const auto stored = [this](const Number& x) { return this->stored(x); };
            const Number cell = this->cells_[i];
            const Number in = gate_value(input_gate, unit, input, states, cell);
            const Number forget = couples_ ? stored(1 - in) : gate_value(forget_gate, unit, input, states, cell);
            const Number fresh = this->activated(1, clipped(this->gate_sum(cell_gate, unit, input, states).result()));
            const Number next = this->carried(stored(forget * cell) + stored(in * fresh));
            const Number out = gate_value(output_gate, unit, input, states, next);
            this->cells_[i] = next;
            this->states_[i] = this->carried(out * this->activated(2, next));
        }
    }

private:
    /// The gates with peepholes come first, in the order of the peephole weights.
    enum Gate : std::int64_t { input_gate, output_gate, forget_gate, cell_gate };

    [[nodiscard]] Number gate_value(std::int64_t gate, std::int64_t unit, std::span<const double> input,
                                    const std::vector<Number>& states, const Number& cell) const {
        Sum sum = this->gate_sum(gate, unit, input, states);
        const bool is_absent = gate != output_gate && this->lacks_cells();
        if (this->network().has_peepholes() && !is_absent) {
            sum.begin_part();
            sum.add_product(this->network().peephole(this->directed_.direction, gate, unit), cell);
        }
        return this->activated(0, clipped(sum.result()));
    }

    /// A number wins over NaN, as in Direct3D. DirectML 1.15.4 applies the minimum last.
    [[nodiscard]] Number clipped(const Number& x) const {
        return clips_ ? min(max(x, Number(-threshold_)), Number(threshold_)) : x;
    }

    bool clips_;
    bool couples_;
    double threshold_;
};

template <template <class> class Cell>
Kernel row(std::string_view name) {
    return {.name = name,
            .compute = [](const KernelArguments& arguments) { Run<Cell>(arguments).compute(); },
            .tolerance =
                [](const operators::Descriptor& descriptor, const operators::TensorSlot&) {
                    const bool half = descriptor.tensor("InputTensor")->data_type == core::DataType::float16;
                    return movement::computed_tolerance(
                        true,
                        half ? "the recurrence on intervals: sums in any order in FP32, functions as Direct3D allows "
                               "them; sums, gates, products of gates and states may be stored as FLOAT16"
                             : "the recurrence on intervals: sums in any order in FP32, functions as Direct3D allows "
                               "them");
                }};
}

}  // namespace

Kernels kernels() {
    return {row<RnnCell>("RNN"), row<GruCell>("GRU"), row<LstmCell>("LSTM")};
}

}  // namespace dmlconform::cpu::cells_kernels

namespace dmlconform::cpu::variants_of_kernels {

void rnn_without_absent_states(const KernelArguments& arguments) {
    recurrent::Run<cells_kernels::RnnCell>(arguments, true).compute();
}

void gru_without_absent_states(const KernelArguments& arguments) {
    recurrent::Run<cells_kernels::GruCell>(arguments, true).compute();
}

void lstm_without_absent_states(const KernelArguments& arguments) {
    recurrent::Run<cells_kernels::LstmCell>(arguments, true).compute();
}

}  // namespace dmlconform::cpu::variants_of_kernels

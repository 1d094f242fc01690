// A recurrent network: sizes, weights and activations that RNN, LSTM and GRU have in common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/element_wise/fused_activation.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::recurrent {

/// Inputs are {step, sequence, input}, weights {direction, gate, unit, input}, recurrence {direction, gate, unit, unit}
/// and states {direction, sequence, unit}; numbers of all types are doubles. The order of gates and the equations are
/// those of DirectML's documentation; docs/findings/directml-1.15.4-recurrent.md covers what it omits.
struct Network {
    Network(const KernelArguments& arguments, std::int64_t gate_count);

    std::int64_t gates;
    /// Steps of the longest sequence.
    std::int64_t steps;
    /// Number of sequences.
    std::int64_t batch;
    std::int64_t inputs;
    /// Number of hidden units; a state has one element for each.
    std::int64_t hidden;
    /// 2 for a bidirectional network, whose second direction runs backwards.
    std::int64_t directions;

    /// The activations of one direction, which each unit uses: 1 for RNN, 2 for GRU, 3 for LSTM.
    [[nodiscard]] const element_wise::FusedActivation& activation(std::int64_t direction, std::size_t which) const {
        return activations_[static_cast<std::size_t>(direction) * activations_.size() /
                                static_cast<std::size_t>(directions) +
                            which];
    }
    /// True if an initial state or cell that is absent is multiplied by nothing, instead of being 0. DirectML 1.15.4
    /// was measured to do that.
    bool skips_absent = false;
    [[nodiscard]] bool runs_backward(std::int64_t direction) const { return runs_backward_ || direction == 1; }
    /// The index of the t-th step to process in a sequence of that length.
    [[nodiscard]] std::int64_t step_after(std::int64_t taken, std::int64_t direction, std::int64_t length) const {
        return runs_backward(direction) ? length - 1 - taken : taken;
    }
    /// The length of a sequence according to its tensor, which may exceed the number of steps.
    [[nodiscard]] std::int64_t said_length_of(std::int64_t sequence) const {
        return lengths_.empty() ? steps : lengths_[static_cast<std::size_t>(sequence)];
    }

    /// The input of a step.
    [[nodiscard]] std::span<const double> input(std::int64_t step, std::int64_t sequence) const {
        return row(input_, step * batch + sequence, inputs);
    }
    /// The weights of a gate for one unit.
    [[nodiscard]] std::span<const double> weights(std::int64_t direction, std::int64_t gate, std::int64_t unit) const {
        return row(weights_, (direction * gates + gate) * hidden + unit, inputs);
    }
    [[nodiscard]] std::span<const double> recurrence(std::int64_t direction, std::int64_t gate,
                                                     std::int64_t unit) const {
        return row(recurrence_, (direction * gates + gate) * hidden + unit, hidden);
    }

    [[nodiscard]] bool has_bias() const { return !bias_.empty(); }
    /// The biases that are added to the products with inputs and with states.
    [[nodiscard]] double input_bias(std::int64_t direction, std::int64_t gate, std::int64_t unit) const {
        return bias_[static_cast<std::size_t>((2 * direction * gates + gate) * hidden + unit)];
    }
    [[nodiscard]] double state_bias(std::int64_t direction, std::int64_t gate, std::int64_t unit) const {
        return bias_[static_cast<std::size_t>(((2 * direction + 1) * gates + gate) * hidden + unit)];
    }

    [[nodiscard]] bool has_peepholes() const { return !peepholes_.empty(); }
    /// Peepholes are ordered input, output, forget gate.
    [[nodiscard]] double peephole(std::int64_t direction, std::int64_t which, std::int64_t unit) const {
        constexpr std::int64_t peepholes_of_unit = 3;
        return peepholes_[static_cast<std::size_t>((peepholes_of_unit * direction + which) * hidden + unit)];
    }

    /// The initial state of a sequence; empty for zeros.
    [[nodiscard]] std::span<const double> first_state(std::int64_t direction, std::int64_t sequence) const {
        return start(first_states_, direction, sequence);
    }
    [[nodiscard]] std::span<const double> first_cell(std::int64_t direction, std::int64_t sequence) const {
        return start(first_cells_, direction, sequence);
    }

private:
    [[nodiscard]] static std::span<const double> row(const std::vector<double>& numbers, std::int64_t index,
                                                     std::int64_t length) {
        return {numbers.data() + index * length, static_cast<std::size_t>(length)};
    }
    [[nodiscard]] std::span<const double> start(const std::vector<double>& numbers, std::int64_t direction,
                                                std::int64_t sequence) const {
        return numbers.empty() ? std::span<const double>() : row(numbers, direction * batch + sequence, hidden);
    }

    bool runs_backward_;
    std::vector<std::int64_t> lengths_;
    std::vector<double> input_;
    std::vector<double> weights_;
    std::vector<double> recurrence_;
    std::vector<double> bias_;
    std::vector<double> peepholes_;
    std::vector<double> first_states_;
    std::vector<double> first_cells_;
    std::vector<element_wise::FusedActivation> activations_;
};

}  // namespace dmlconform::cpu::recurrent

// Runs a network: each sequence of the batch separately, in each direction, step by step.
//
// A cell is a class template over the arithmetic. It computes one step of a sequence:
//
//   template <class Arithmetic>
//   class Cell : public CellBase<Arithmetic> {
//   public:
//       static constexpr std::int64_t gates;
//       Cell(const DirectedSequence& directed, Arithmetic arithmetic, const operators::Descriptor& descriptor);
//       /// Replaces states and cells by those after the step.
//       void step(std::span<const double> input);
//   };
#pragma once

#include <optional>
#include <vector>

#include "engine/cpu/composition/arithmetic.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/recurrent/network.h"

namespace dmlconform::cpu::recurrent {

using composition::Bounded;
using composition::Exact;

/// One sequence in one direction.
struct DirectedSequence {
    const Network& network;
    std::int64_t direction = 0;
    std::int64_t sequence = 0;
};

inline double with_far_errors(double y, double /*x*/, const element_wise::FusedActivation& /*function*/) {
    return y;
}
/// y = function(x), which has propagated the error of x by the derivative. That is too little if the error is large
/// enough to leave the flat part of a function, as it is where states are stored as FLOAT16 and multiplied by large
/// numbers: then what the function does within a few standard deviations counts.
[[nodiscard]] Interval with_far_errors(const Interval& y, const Interval& x,
                                       const element_wise::FusedActivation& function);

inline double amplified(double gate, double x) {
    return gate * x;
}
/// gate * x. A gate beyond 1, as functions without bounds return it, amplifies the error of x, from which its own error
/// comes, too: then the two standard deviations add up, and not the variances. Step by step, that makes a difference.
[[nodiscard]] Interval amplified(const Interval& gate, const Interval& x);

/// Common part of cells: states, and the sums of their gates.
template <class Arithmetic>
class CellBase {
public:
    using Number = typename Arithmetic::Number;
    using Sum = typename Arithmetic::Sum;

    CellBase(const DirectedSequence& directed, Arithmetic arithmetic)
        : arithmetic_(arithmetic),
          directed_(directed),
          states_(started(directed.network.first_state(directed.direction, directed.sequence))),
          cells_(started(directed.network.first_cell(directed.direction, directed.sequence))) {}

    [[nodiscard]] const std::vector<Number>& states() const { return states_; }
    [[nodiscard]] const std::vector<Number>& cells() const { return cells_; }

    /// To be called after each step.
    void end_step() { is_first_ = false; }

protected:
    /// True if states or cells are absent in this step, and count as nothing.
    [[nodiscard]] bool lacks_states() const {
        return is_first_ && network().skips_absent &&
               network().first_state(directed_.direction, directed_.sequence).empty();
    }
    [[nodiscard]] bool lacks_cells() const {
        return is_first_ && network().skips_absent &&
               network().first_cell(directed_.direction, directed_.sequence).empty();
    }
    [[nodiscard]] const Network& network() const { return directed_.network; }
    [[nodiscard]] std::int64_t units() const { return directed_.network.hidden; }
    [[nodiscard]] Number stored(const Number& x) const { return arithmetic_.stored(x); }
    [[nodiscard]] Number carried(const Number& x) const { return arithmetic_.carried(x); }

    /// The sum of a gate without peepholes: x W + h R + biases.
    [[nodiscard]] Sum gate_sum(std::int64_t gate, std::int64_t unit, std::span<const double> input,
                               const std::vector<Number>& states) const {
        Sum sum = input_part(gate, unit, input);
        add_state_part(sum, gate, unit, states);
        if (network().has_bias()) {
            sum.begin_part();
            sum.add(network().input_bias(directed_.direction, gate, unit));
            sum.add(network().state_bias(directed_.direction, gate, unit));
        }
        return sum;
    }

    [[nodiscard]] Sum input_part(std::int64_t gate, std::int64_t unit, std::span<const double> input) const {
        Sum sum = arithmetic_.sum();
        sum.add_products(network().weights(directed_.direction, gate, unit), input);
        return sum;
    }

    void add_state_part(Sum& sum, std::int64_t gate, std::int64_t unit, const std::vector<Number>& states) const {
        sum.begin_part();
        if (!lacks_states()) {
            sum.add_products(network().recurrence(directed_.direction, gate, unit), std::span<const Number>(states));
        }
    }

    [[nodiscard]] Number activated(std::size_t which, const Number& x) const {
        const element_wise::FusedActivation& function = network().activation(directed_.direction, which);
        const Number argument = carried(x);
        return carried(with_far_errors(function(argument), argument, function));
    }

    [[nodiscard]] std::vector<Number> started(std::span<const double> from) const {
        std::vector<Number> numbers(static_cast<std::size_t>(units()), Number(0));
        std::copy(from.begin(), from.end(), numbers.begin());
        return numbers;
    }

    Arithmetic arithmetic_;
    DirectedSequence directed_;
    std::vector<Number> states_;
    std::vector<Number> cells_;
    bool is_first_ = true;
};

/// An output that may be absent, and its bounds if they are wanted.
class Written {
public:
    Written(const KernelArguments& arguments, std::size_t number);

    [[nodiscard]] bool wants_bounds() const { return slack_ != nullptr; }
    /// Writes the vector of all units at these coordinates of the first three dimensions.
    template <class Range>
    void put(std::int64_t a, std::int64_t b, std::int64_t c, const std::vector<double>& values,
             const Range& range) const {
        if (tensor_ == nullptr) {
            return;
        }
        std::int64_t address = a * strides_[0] + b * strides_[1] + c * strides_[2];
        const auto& sizes = tensor_->desc.sizes;
        std::int64_t number = ((a * sizes[1] + b) * sizes[2] + c) * sizes[3];
        for (std::size_t unit = 0; unit < values.size(); ++unit) {
            movement::store_computed(*tensor_, address, number, values[unit], slack_, [&] { return range(unit); });
            address += strides_[3];
            ++number;
        }
    }

private:
    core::Tensor* tensor_ = nullptr;
    core::ElementSlack* slack_ = nullptr;
    core::Strides strides_;
};

template <template <class> class Cell>
class Run {
public:
    explicit Run(const KernelArguments& arguments, bool skips_absent = false)
        : descriptor_(arguments.descriptor), network_(arguments, Cell<Exact>::gates) {
        network_.skips_absent = skips_absent;
        for (std::size_t i = 0; i < arguments.outputs.size(); ++i) {
            outputs_.emplace_back(arguments, i);
            bounded_ = bounded_ || outputs_.back().wants_bounds();
        }
        half_ = arguments.descriptor.tensor("InputTensor")->data_type == core::DataType::float16;
    }

    void compute() const {
        const std::int64_t cost =
            network_.steps * network_.gates * network_.hidden * (network_.inputs + network_.hidden + 50);
        parallel_for(network_.directions * network_.batch, bounded_ ? 100 * cost : cost,
                     [&](std::int64_t first, std::int64_t last) {
                         for (std::int64_t i = first; i < last; ++i) {
                             run({network_, i / network_.batch, i % network_.batch});
                         }
                     });
    }

private:
    /// Indices into Descriptor::outputs().
    enum Output : std::size_t { all_states, last_state, last_cell };

    void run(const DirectedSequence& directed) const {
        const std::int64_t direction = directed.direction;
        const std::int64_t sequence = directed.sequence;
        Cell<Exact> cell(directed, {}, descriptor_);
        std::optional<Cell<Bounded>> bounds;
        if (bounded_) {
            bounds.emplace(directed, Bounded{half_}, descriptor_);
        }
        const auto state_range = [&](std::size_t unit) { return bounds->states()[unit]; };
        const std::int64_t length = std::min(network_.said_length_of(sequence), network_.steps);
        for (std::int64_t taken = 0; taken < length; ++taken) {
            const std::int64_t step = network_.step_after(taken, direction, length);
            cell.step(network_.input(step, sequence));
            cell.end_step();
            if (bounds) {
                bounds->step(network_.input(step, sequence));
                bounds->end_step();
            }
            outputs_[all_states].put(step, direction, sequence, cell.states(), state_range);
        }
        const std::vector<double> zeros(cell.states().size());
        const auto zero_range = [](std::size_t /*unit*/) { return Interval(0); };
        for (std::int64_t step = length; step < network_.steps; ++step) {
            outputs_[all_states].put(step, direction, sequence, zeros, zero_range);
        }
        if (has_last_step(directed)) {
            outputs_[last_state].put(0, direction, sequence, cell.states(), state_range);
        } else {
            outputs_[last_state].put(0, direction, sequence, zeros, zero_range);
        }
        if (outputs_.size() > last_cell) {
            outputs_[last_cell].put(0, direction, sequence, cell.cells(),
                                    [&](std::size_t unit) { return bounds->cells()[unit]; });
        }
    }

    /// Measured on DirectML 1.15.4: the last state of a forward sequence is that of the step that its length names, or
    /// zeros if there is no such step. This is undocumented.
    [[nodiscard]] bool has_last_step(const DirectedSequence& directed) const {
        const std::int64_t length = network_.said_length_of(directed.sequence);
        return network_.runs_backward(directed.direction) || (length >= 1 && length <= network_.steps);
    }

    const operators::Descriptor& descriptor_;
    Network network_;
    std::vector<Written> outputs_;
    bool bounded_ = false;
    bool half_ = false;
};

}  // namespace dmlconform::cpu::recurrent

// The common core of operators that reduce each window to one element: input elements are added to a state in row-major
// order, and the state is finished.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/wide_registers.h"
#include "engine/cpu/window/windows.h"

namespace dmlconform::cpu::window {

/// An element of an output: its coordinates, address, and row-major index.
struct OutputElement {
    Coordinates coordinates;
    std::int64_t address = 0;
    std::int64_t number = 0;
};

/// Adds elements that are `stride` apart to a state each. `number` is the row-major index of the first one.
template <class State, class Number>
void add_each(std::span<State> states, const Number* elements, std::int64_t stride, std::int64_t number) {
    State* const to = states.data();
    const auto count = static_cast<std::int64_t>(states.size());
    const auto with_stride = [&](auto step) {
        for (std::int64_t i = 0; i < count; ++i) {
            to[i].add(elements[i * step], number + i * step);
        }
    };
    if constexpr (requires { State::is_short; }) {
        in_wide_registers([&] {
            stride == 1   ? with_stride(std::integral_constant<std::int64_t, 1>())
            : stride == 2 ? with_stride(std::integral_constant<std::int64_t, 2>())
                          : with_stride(stride);
        });
    } else {
        with_stride(stride);
    }
}

/// Adds a row of input elements to the states of a row of windows.
class RowWindows {
public:
    explicit RowWindows(const Axis& axis) : axis_(axis), by_taps_(axis.taps <= axis.stops) {
        for (std::int64_t i = 0; i < (by_taps_ ? axis.taps : axis.stops); ++i) {
            inside_.push_back(by_taps_ ? axis.stops_inside(i) : axis.elements_inside(i));
        }
    }

    /// `number` is the row-major index of the row's first element.
    template <class State, class Number>
    void add_row(std::span<State> states, const std::vector<Number>& row, std::int64_t number) const {
        for (std::size_t i = 0; i < inside_.size(); ++i) {
            if (inside_[i].count() > 0) {
                by_taps_ ? add_tap(states, row, number, i) : add_window(states[i], row, number, i);
            }
        }
    }

private:
    /// Adds one tap of each window.
    template <class State, class Number>
    void add_tap(std::span<State> states, const std::vector<Number>& row, std::int64_t number, std::size_t tap) const {
        const Range& windows = inside_[tap];
        const std::int64_t element = axis_.element(windows.first, static_cast<std::int64_t>(tap));
        add_each(states.subspan(static_cast<std::size_t>(windows.first), static_cast<std::size_t>(windows.count())),
                 &row[static_cast<std::size_t>(element)], axis_.stride, number + element);
    }

    /// Adds all taps of one window.
    template <class State, class Number>
    void add_window(State& state, const std::vector<Number>& row, std::int64_t number, std::size_t window) const {
        const Range& taps = inside_[window];
        std::int64_t element = axis_.element(static_cast<std::int64_t>(window), taps.first);
        for (std::int64_t tap = taps.first; tap < taps.last; ++tap, element += axis_.dilation) {
            state.add(row[static_cast<std::size_t>(element)], number + element);
        }
    }

    const Axis& axis_;
    /// Each tap for all windows of a row: consecutive operations do not wait for each other. Few windows of many taps
    /// take one window after the other.
    bool by_taps_;
    /// For each tap, the windows in which it is inside the input. Otherwise for each window, its taps inside the input.
    std::vector<Range> inside_;
};

/// For each element of `output`, whose sizes are the numbers of window positions: starts with the state
/// blank(coordinates), calls state.add(element, number) for the elements that the window covers, where `number` is the
/// row-major index in the input, then finish(element, state). Blank states are equal along the last dimension.
template <class Number, class Blank, class Finish>
void slide(const Windows& windows, const core::Tensor& input, const core::TensorDesc& output, const Blank& blank,
           const Finish& finish) {
    using State = std::invoke_result_t<Blank, Coordinates>;
    const movement::Rows rows(output);
    const Axis& inner = windows.axis(windows.rank() - 1);
    const core::Strides strides = core::signed_strides(input.desc);
    const std::int64_t step = core::signed_strides(output).back();
    const RowWindows row_windows(inner);
    const auto one_row = [&](std::vector<Number>& numbers, std::vector<State>& states, const OutputElement& start) {
        states.assign(static_cast<std::size_t>(inner.stops), blank(start.coordinates));
        windows.for_each_row(start.coordinates, strides, [&](std::int64_t address, std::int64_t number) {
            element_wise::load(input.buffer.bytes(), {input.desc.data_type, address, strides.back()}, numbers.size(),
                               numbers.data());
            row_windows.add_row(std::span(states), numbers, number);
        });
        std::vector<std::int64_t> coordinates(start.coordinates.begin(), start.coordinates.end());
        for (std::int64_t& x = coordinates.back(); x < inner.stops; ++x) {
            finish(OutputElement{coordinates, start.address + x * step, start.number + x},
                   states[static_cast<std::size_t>(x)]);
        }
    };
    const std::int64_t cost = 4 * windows.most_inside() * rows.length();
    parallel_for(rows.count(), cost, [&](std::int64_t first, std::int64_t last) {
        std::vector<Number> numbers(static_cast<std::size_t>(inner.elements));
        std::vector<State> states;
        rows.for_each_row(first, last, [&](Coordinates coordinates, std::int64_t address, std::int64_t number) {
            one_row(numbers, states, {coordinates, address, number});
        });
    });
}

/// A blank state that is the same for all windows.
template <class State>
[[nodiscard]] auto always(const State& state) {
    return [state](Coordinates /*stop*/) { return state; };
}

/// Calls use.template operator()<Number>() with the number type for elements of the data type.
template <class Use>
void with_number(core::DataType type, Use&& use) {
    if (core::is_floating_point(type)) {
        use.template operator()<double>();
    } else if (core::is_signed_integer(type)) {
        use.template operator()<Signed>();
    } else {
        use.template operator()<Unsigned>();
    }
}

}  // namespace dmlconform::cpu::window

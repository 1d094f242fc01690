// The common core of operators that reduce each window to one element: input elements are added to a state in row-major
// order, and the state is finished.
#pragma once

#include <type_traits>
#include <vector>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/window/windows.h"

namespace dmlconform::cpu::window {

/// An element of an output: its coordinates, address, and row-major index.
struct OutputElement {
    Coordinates coordinates;
    std::int64_t address = 0;
    std::int64_t number = 0;
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
    std::vector<Range> inside;
    for (std::int64_t x = 0; x < inner.stops; ++x) {
        inside.push_back(inner.elements_inside(x));
    }
    const auto one_row = [&](std::vector<Number>& numbers, std::vector<State>& states, const OutputElement& start) {
        states.assign(inside.size(), blank(start.coordinates));
        windows.for_each_row(start.coordinates, strides, [&](std::int64_t address, std::int64_t number) {
            element_wise::load(input.buffer.bytes(), {input.desc.data_type, address, strides.back()}, numbers.size(),
                               numbers.data());
            for (std::size_t x = 0; x < states.size(); ++x) {
                std::int64_t element = inner.element(static_cast<std::int64_t>(x), inside[x].first);
                for (std::int64_t i = inside[x].first; i < inside[x].last; ++i, element += inner.dilation) {
                    states[x].add(numbers[static_cast<std::size_t>(element)], number + element);
                }
            }
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

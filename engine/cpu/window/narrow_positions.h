// Windows as DirectML 1.15.4 was measured to step through them: positions are signed integers of 32 bits, so that a
// step beyond the largest one leads to the lowest, in front of the window's end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/window/slide.h"

namespace dmlconform::cpu::window {

/// What is left of a number in a signed integer of 32 bits.
[[nodiscard]] inline std::int64_t narrow(std::int64_t number) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
}

/// The positions of one window. Those that are elements of the input are added to the state.
template <class Number, class State>
class NarrowWindow {
public:
    /// No more than `most` positions are visited. DirectML would not come to an end with many more.
    NarrowWindow(const Windows& windows, const core::Tensor& input, State blank, std::int64_t most)
        : windows_(windows),
          input_(input),
          strides_(core::signed_strides(input.desc)),
          state_(std::move(blank)),
          left_(most) {}

    void add_all(Coordinates stop) { add(stop, 0, true, 0, 0); }

    [[nodiscard]] const State& state() const { return state_; }
    /// How many positions there are, in all or inside of the input.
    [[nodiscard]] double count(bool with_padding) const { return static_cast<double>(with_padding ? all_ : inside_); }
    [[nodiscard]] std::int64_t left() const { return left_; }

private:
    void add(Coordinates stop, std::size_t d, bool is_inside, std::int64_t address, std::int64_t number) {
        if (d == windows_.rank()) {
            add_position(is_inside, address, number);
            return;
        }
        const Axis& axis = windows_.axis(d);
        const std::int64_t end = narrow(axis.element(stop[d], axis.taps - 1) + 1);
        std::int64_t position = narrow(axis.element(stop[d], 0));
        while (position < end && left_ > 0) {
            add(stop, d + 1, is_inside && position >= 0 && position < axis.elements, address + position * strides_[d],
                number * axis.elements + position);
            position = narrow(position + axis.dilation);
        }
    }

    void add_position(bool is_inside, std::int64_t address, std::int64_t number) {
        --left_;
        ++all_;
        if (is_inside) {
            ++inside_;
            Number element = 0;
            element_wise::load(input_.buffer.bytes(), {input_.desc.data_type, address, 0}, 1, &element);
            state_.add(element, number);
        }
    }

    const Windows& windows_;
    const core::Tensor& input_;
    core::Strides strides_;
    State state_;
    std::int64_t left_;
    std::int64_t inside_ = 0;
    std::int64_t all_ = 0;
};

/// As `slide`, with finish(element, window).
template <class Number, class Blank, class Finish>
void slide_narrowly(const Windows& windows, const core::Tensor& input, const core::TensorDesc& output,
                    const Blank& blank, const Finish& finish) {
    using State = std::invoke_result_t<Blank, Coordinates>;
    constexpr std::int64_t most_of_a_window = 1 << 16;
    std::int64_t left = 1 << 26;
    const movement::Rows rows(output);
    rows.for_each(0, rows.count(), [&](Coordinates stop, std::int64_t address, std::int64_t number) {
        const std::int64_t most = std::min(left, most_of_a_window);
        NarrowWindow<Number, State> window(windows, input, blank(stop), most);
        window.add_all(stop);
        left -= most - window.left();
        finish(OutputElement{stop, address, number}, window);
    });
}

}  // namespace dmlconform::cpu::window

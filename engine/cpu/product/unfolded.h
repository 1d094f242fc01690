// A picture's dimension laid out so that a filter finds what it meets at a fixed distance from its place: with its
// padding, or where that would be larger or its places do not lie side by side, once for each tap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/cpu/product/places.h"

namespace dmlconform::cpu::product {

struct UnfoldedAxis {
    /// Of a forward convolution. Places of `inner` ones are to lie side by side.
    UnfoldedAxis(const Axis& axis, bool inner);

    /// Positions from `position` on that hold elements from `element` on, `element_step` apart. All others hold 0.
    struct Run {
        std::int64_t position = 0;
        std::int64_t element = 0;
        std::int64_t element_step = 1;
        std::int64_t count = 0;
    };
    /// Whether it is laid out as it was.
    [[nodiscard]] bool is_plain() const { return size == elements && runs.size() == 1 && runs[0].count == size; }
    /// The element at a position, or Factors::nowhere.
    [[nodiscard]] std::int64_t element_at(std::int64_t position) const;

    std::int64_t places = 1;
    std::int64_t taps = 1;
    std::int64_t elements = 1;
    std::int64_t size = 1;
    /// Place p meets position p * place_step + tap * tap_step with each tap.
    std::int64_t place_step = 1;
    std::int64_t tap_step = 1;
    std::vector<Run> runs;
};

/// The two of a picture. One of a single dimension has a height of 1.
struct UnfoldedAxes {
    explicit UnfoldedAxes(const Convolution& convolution);

    UnfoldedAxis height;
    UnfoldedAxis width;

    [[nodiscard]] std::int64_t size() const { return height.size * width.size; }
    [[nodiscard]] std::int64_t elements() const { return height.elements * width.elements; }
    [[nodiscard]] std::int64_t places() const { return height.places * width.places; }
    [[nodiscard]] std::int64_t taps() const { return height.taps * width.taps; }
    /// Where a tap of the filter finds its element from where its place is.
    [[nodiscard]] std::int64_t of_tap(std::int64_t tap) const {
        return tap / width.taps * height.tap_step * width.size + tap % width.taps * width.tap_step;
    }
    /// Where a row of places is.
    [[nodiscard]] std::int64_t of_row(std::int64_t row) const { return row * height.place_step * width.size; }

    /// Calls load(element, element_step, count, to) for all runs of elements of a channel, whose memory is `to`, and
    /// makes it 0 elsewhere.
    template <class Number, class Load>
    void lay_out(Number* to, const Load& load) const;
};

template <class Number, class Load>
void UnfoldedAxes::lay_out(Number* to, const Load& load) const {
    if (height.is_plain() && width.is_plain()) {
        load(0, 1, size(), to);
        return;
    }
    for (std::int64_t row = 0; row < height.size; ++row, to += width.size) {
        const std::int64_t above = height.element_at(row);
        std::int64_t done = 0;
        if (above != Factors::nowhere) {
            for (const UnfoldedAxis::Run& run : width.runs) {
                std::fill(to + done, to + run.position, Number());
                load(above * width.elements + run.element, run.element_step, run.count, to + run.position);
                done = run.position + run.count;
            }
        }
        std::fill(to + done, to + width.size, Number());
    }
}

}  // namespace dmlconform::cpu::product

// im2col along one axis: a layout of the input in which each filter element is at a fixed offset from the output
// position. It contains the padding. If it would become too large, or positions would not be contiguous, there is one
// copy for each filter element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/cpu/product/filter_positions.h"

namespace dmlconform::cpu::product {

struct UnfoldedAxis {
    /// For a forward convolution. If `inner`, consecutive output positions must be contiguous.
    UnfoldedAxis(const Axis& axis, bool inner);

    /// Positions from `position` on, which hold elements from `element` on, `element_step` apart. All other positions
    /// hold 0.
    struct Run {
        std::int64_t position = 0;
        std::int64_t element = 0;
        std::int64_t element_step = 1;
        std::int64_t count = 0;
    };
    /// True if the layout equals that of the input.
    [[nodiscard]] bool is_plain() const { return size == elements && runs.size() == 1 && runs[0].count == size; }
    /// The element at a position, or Factors::nowhere.
    [[nodiscard]] std::int64_t element_at(std::int64_t position) const;

    std::int64_t positions = 1;
    std::int64_t taps = 1;
    std::int64_t elements = 1;
    std::int64_t size = 1;
    /// Output position p sees position p * position_step + tap * tap_step with each filter element.
    std::int64_t position_step = 1;
    std::int64_t tap_step = 1;
    std::vector<Run> runs;
};

/// Both axes of an input. An input with a single spatial dimension has height 1.
struct UnfoldedAxes {
    explicit UnfoldedAxes(const Convolution& convolution);

    UnfoldedAxis height;
    UnfoldedAxis width;

    [[nodiscard]] std::int64_t size() const { return height.size * width.size; }
    [[nodiscard]] std::int64_t elements() const { return height.elements * width.elements; }
    [[nodiscard]] std::int64_t positions() const { return height.positions * width.positions; }
    [[nodiscard]] std::int64_t taps() const { return height.taps * width.taps; }
    /// Offset of the element that a filter element sees, relative to the output position.
    [[nodiscard]] std::int64_t of_tap(std::int64_t tap) const {
        return tap / width.taps * height.tap_step * width.size + tap % width.taps * width.tap_step;
    }
    /// Offset of a row of output positions.
    [[nodiscard]] std::int64_t of_row(std::int64_t row) const { return row * height.position_step * width.size; }

    /// Fills the memory of a channel: calls load(element, element_step, count, to) for all runs of elements, and writes
    /// 0 elsewhere.
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

// A window that slides along one dimension: its positions, and the elements that it covers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dmlconform::cpu::window {

/// From first to last - 1.
struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;

    [[nodiscard]] std::int64_t count() const { return std::max<std::int64_t>(0, last - first); }
};

/// All members are in elements. The formula is that of DirectML's documentation for convolutions and poolings.
struct Axis {
    /// The number of elements of the window, and the distance between them.
    std::int64_t taps = 1;
    std::int64_t dilation = 1;
    /// The number of window positions, and the distance between them.
    std::int64_t stops = 1;
    std::int64_t stride = 1;
    /// Padding before the first element and after the last one.
    std::int64_t padding = 0;
    std::int64_t end_padding = 0;
    /// The number of elements without padding.
    std::int64_t elements = 1;

    /// The input element that element `tap` of the window covers at a position.
    [[nodiscard]] std::int64_t element(std::int64_t stop, std::int64_t tap) const {
        return stop * stride + tap * dilation - padding;
    }

    /// The window elements that cover input elements instead of padding.
    [[nodiscard]] Range elements_inside(std::int64_t stop) const {
        const std::int64_t start = element(stop, 0);
        const std::int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
        const std::int64_t last = start >= elements ? 0 : (elements - 1 - start) / dilation + 1;
        return {first, std::min(last, taps)};
    }

    /// The positions at which element `tap` of the window covers an input element instead of padding.
    [[nodiscard]] Range stops_inside(std::int64_t tap) const {
        const std::int64_t start = element(0, tap);
        const std::int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
        const std::int64_t last = start >= elements ? 0 : (elements - 1 - start) / stride + 1;
        return {first, std::min(last, stops)};
    }

    /// The number of window elements that cover input or padding: all, unless the window extends beyond the padding at
    /// the end.
    [[nodiscard]] std::int64_t elements_with_padding(std::int64_t stop) const {
        const std::int64_t rest = padding + elements + end_padding - stop * stride;
        return rest <= 0 ? 0 : std::min((rest - 1) / dilation + 1, taps);
    }

    /// Calls visit(stop, tap) for each position at which an element of the window covers the input element. Loops
    /// over positions or window elements, whichever are fewer.
    template <class Visit>
    void for_each_stop_at(std::int64_t element, const Visit& visit) const {
        const std::int64_t at = element + padding;
        const auto try_all = [at](std::int64_t count, std::int64_t step, std::int64_t other_count,
                                  std::int64_t other_step, const auto& found) {
            for (std::int64_t i = 0; i < count && i * step <= at; ++i) {
                const std::int64_t rest = at - i * step;
                if (rest % other_step == 0 && rest / other_step < other_count) {
                    found(i, rest / other_step);
                }
            }
        };
        if (stops < taps) {
            try_all(stops, stride, taps, dilation, [&](std::int64_t stop, std::int64_t tap) { visit(stop, tap); });
        } else {
            try_all(taps, dilation, stops, stride, [&](std::int64_t tap, std::int64_t stop) { visit(stop, tap); });
        }
    }
};

}  // namespace dmlconform::cpu::window

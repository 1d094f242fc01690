// A window that slides along one dimension: where it stops, and which elements its places are at.
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

/// Everything is counted in elements. The formula is that of DirectML's documentation for convolutions and poolings.
struct Axis {
    /// Places of the window, and how far they are apart.
    std::int64_t places = 1;
    std::int64_t dilation = 1;
    /// How often the window stops, and how far stops are apart.
    std::int64_t stops = 1;
    std::int64_t stride = 1;
    /// In front of the first element, and behind the last one.
    std::int64_t padding = 0;
    std::int64_t end_padding = 0;
    /// Elements, padding aside.
    std::int64_t elements = 1;

    /// Which element a place of the window is at, when it stops there.
    [[nodiscard]] std::int64_t element(std::int64_t stop, std::int64_t place) const {
        return stop * stride + place * dilation - padding;
    }

    /// The places that are at elements, not at padding.
    [[nodiscard]] Range places_inside(std::int64_t stop) const {
        const std::int64_t start = element(stop, 0);
        const std::int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
        const std::int64_t last = start >= elements ? 0 : (elements - 1 - start) / dilation + 1;
        return {first, std::min(last, places)};
    }

    /// How many places are at elements or at padding: all, unless the window reaches beyond the padding at the end.
    [[nodiscard]] std::int64_t places_with_padding(std::int64_t stop) const {
        const std::int64_t rest = padding + elements + end_padding - stop * stride;
        return rest <= 0 ? 0 : std::min((rest - 1) / dilation + 1, places);
    }

    /// Calls visit(stop, place) for each stop at which a place of the window is at the element. Of stops and places
    /// those are tried that are fewer.
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
        if (stops < places) {
            try_all(stops, stride, places, dilation,
                    [&](std::int64_t stop, std::int64_t place) { visit(stop, place); });
        } else {
            try_all(places, dilation, stops, stride,
                    [&](std::int64_t place, std::int64_t stop) { visit(stop, place); });
        }
    }
};

}  // namespace dmlconform::cpu::window

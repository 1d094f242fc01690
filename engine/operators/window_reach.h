// Which elements of an image the elements of a sliding window meet, along one dimension: what a pooling or a
// convolution must read and compute at least.
#pragma once

#include <cstdint>

namespace dmlconform::operators {

/// The offsets 0, step, 2 * step and so on.
struct Offsets {
    std::uint64_t count = 1;
    std::uint64_t step = 1;
};

struct WindowReach {
    /// How often an element of the window is on an element of the image, and not on padding.
    double pairs = 0;
    /// How many elements of the image are in a window.
    double elements = 0;
    /// At how many positions the window has an element of the image.
    double positions = 0;
    /// How many elements of the window are on an element of the image at one position or another.
    double window = 0;
};

/// `positions` and `window`: the offsets of the window in the padded image, and those of its elements in the window.
/// Counts and steps are below 2^32. The image has `size` elements, which `padding` ones precede. If there are more than
/// 65,536 of both offsets, padding counts like the image, since what windows meet would take too long to count.
[[nodiscard]] WindowReach window_reach(const Offsets& positions, const Offsets& window, std::uint64_t padding,
                                       std::uint64_t size);

}  // namespace dmlconform::operators

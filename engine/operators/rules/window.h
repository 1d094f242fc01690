// Windows that slide over the spatial dimensions of a tensor, for poolings, FOLD and UNFOLD.
#pragma once

#include <cstdint>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// The window along one spatial dimension. Batches and channels precede the spatial dimensions.
struct SlidingWindow {
    /// Elements of the window.
    std::uint64_t size = 1;
    std::uint64_t stride = 1;
    std::uint64_t dilation = 1;
    /// Size of the input, including padding.
    std::uint64_t padded = 0;

    SlidingWindow(const Descriptor& descriptor, const core::Dimensions& image, std::size_t dimension);

    /// Distance from the first to the last element of the window, in elements.
    [[nodiscard]] std::uint64_t length() const { return (size - 1) * dilation + 1; }
    /// The number of window positions. The window must pass check_windows.
    [[nodiscard]] std::uint64_t stops() const { return (padded - length()) / stride + 1; }
};

/// Rule "window": sizes, strides and dilations are at least 1.
[[nodiscard]] Verdict check_window_numbers(const Descriptor& descriptor, const core::Dimensions& image);

/// Rules "window" and "windowInBounds": each window fits into the image with its padding.
[[nodiscard]] Verdict check_windows(const Descriptor& descriptor, const core::Dimensions& image);

}  // namespace dmlconform::operators

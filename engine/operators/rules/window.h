// Windows that slide over the spatial dimensions of a tensor, as poolings, FOLD and UNFOLD have them.
#pragma once

#include <cstdint>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Along one spatial dimension of a picture: batches and channels come before it.
struct SlidingWindow {
    /// Elements of the window.
    std::uint64_t size = 1;
    std::uint64_t stride = 1;
    std::uint64_t dilation = 1;
    /// Elements that it slides over, padding included.
    std::uint64_t padded = 0;

    SlidingWindow(const Descriptor& descriptor, const core::Dimensions& picture, std::size_t dimension);

    /// From its first element to its last one.
    [[nodiscard]] std::uint64_t length() const { return (size - 1) * dilation + 1; }
    /// How many places it stops at. Of windows that check_windows accepts.
    [[nodiscard]] std::uint64_t stops() const { return (padded - length()) / stride + 1; }
};

/// Rule "window": sizes, strides and dilations are at least 1.
[[nodiscard]] Verdict check_window_numbers(const Descriptor& descriptor, const core::Dimensions& picture);

/// Rules "window" and "windowInBounds": each window fits into the picture with its padding.
[[nodiscard]] Verdict check_windows(const Descriptor& descriptor, const core::Dimensions& picture);

}  // namespace dmlconform::operators

// Windows that slide over the spatial dimensions of a tensor, for poolings, FOLD and UNFOLD.
#pragma once

#include <cstdint>

#include "engine/operators/rules.h"
#include "engine/operators/size_formula.h"
#include "engine/operators/window_reach.h"

namespace dmlconform::operators {

/// The number of positions of a window that fits into the padded image, along one dimension.
template <class Number>
[[nodiscard]] Number window_positions(const Number& padded, const Number& size, const Number& dilation,
                                      const Number& stride) {
    return (padded - (size - 1) * dilation - 1) / stride + 1;
}

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
    [[nodiscard]] std::uint64_t stops() const { return window_positions(padded, size, dilation, stride); }
};

/// What the windows at this many positions have of the image, along one spatial dimension.
[[nodiscard]] WindowReach reach_of(const Descriptor& descriptor, const core::Dimensions& image, std::size_t dimension,
                                   std::uint64_t positions);

/// The formula of window_positions for spatial dimension d of the tensor `image`, with the operator's own field names.
[[nodiscard]] SizeFormula window_positions_of(std::string_view operator_name, std::string_view image);

/// What `describe` says of the two rules below.
[[nodiscard]] ExplainedRule window_rule();
[[nodiscard]] ExplainedRule window_in_bounds_rule();

/// Rule "window": sizes, strides and dilations are at least 1.
[[nodiscard]] Verdict check_window_numbers(const Descriptor& descriptor, const core::Dimensions& image);

/// Rules "window" and "windowInBounds": each window fits into the image with its padding.
[[nodiscard]] Verdict check_windows(const Descriptor& descriptor, const core::Dimensions& image);

}  // namespace dmlconform::operators

// Windows that slide over a tensor, as dispatches of shaders/window/window.hlsl: the dimensions they slide along, and
// the layout of elements.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/operators/descriptor.h"
#include "shaders/window/window_parameters.hlsli"

namespace dmlconform::d3d12 {

/// The window along one dimension.
struct Window {
    std::uint32_t size = 1;
    std::uint32_t stride = 1;
    std::uint32_t dilation = 1;
    /// Padding before the first element.
    std::uint32_t padding = 0;
    /// The size of the tensor that windows see.
    std::uint32_t extent = 1;
    /// For gradients: where elements stop counting for the divisor, relative to the start of the padding.
    std::uint32_t divisor_end = 1;
};

/// One dispatch: the function to apply to windows, and the tensors.
struct WindowPass {
    /// WINDOW_…
    std::uint32_t function = WINDOW_AVERAGE;
    /// The type of elements that are not words of a temporary.
    core::DataType type = core::DataType::float32;
    /// All other parameters that do not follow from sizes and strides.
    WindowParameters parameters{};
    /// The sizes of the output, whose elements are computed.
    core::Dimensions sizes;
    /// For each dimension of the output, the window that slides along it, if any.
    std::vector<std::optional<Window>> windows;
    /// Strides of the two tensors that are read, of the output, and of indices or channels. Empty: all 0.
    core::Strides first;
    core::Strides second;
    core::Strides output;
    core::Strides other;
    std::vector<BufferRef> buffers;
    /// True if the output has no gaps.
    bool packed = false;

    /// Sets the layout of the output.
    void write_to(const core::TensorDesc& target);
};

[[nodiscard]] Dispatch window_dispatch(const WindowPass& pass);

/// All variants that passes with this function may use, for elements of these widths.
[[nodiscard]] std::vector<ShaderVariant> window_variants(std::uint32_t function,
                                                         std::initializer_list<std::uint32_t> widths);

/// Strides of a packed tensor. The element count must fit.
[[nodiscard]] core::Strides row_major_strides(const core::Dimensions& sizes);

}  // namespace dmlconform::d3d12

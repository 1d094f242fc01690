// Windows that slide over a tensor as dispatches of shaders/window.hlsl: which dimensions they slide along, and how
// elements lie.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/d3d12/constant_buffer.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/operators/descriptor.h"
#include "shaders/window_parameters.hlsli"

namespace dmlconform::d3d12 {

/// The constant buffer.
struct WindowParameters : ConstantBuffer {
#include "shaders/window_members.hlsli"
};

/// Along one dimension.
struct Window {
    std::uint32_t size = 1;
    std::uint32_t stride = 1;
    std::uint32_t dilation = 1;
    /// In front.
    std::uint32_t padding = 0;
    /// How many places there are in what windows see.
    std::uint32_t extent = 1;
    /// Where divisors of gradients end to count, from the start of the padding on.
    std::uint32_t divisor_end = 1;
};

/// What is made of windows, and where: one dispatch.
struct WindowPass {
    /// WINDOW_…
    std::uint32_t function = WINDOW_AVERAGE;
    /// Of elements that are not words of a temporary.
    core::DataType type = core::DataType::float32;
    /// Whatever else does not come from sizes and strides.
    WindowParameters parameters{};
    /// Of the output, whose elements are made.
    core::Dimensions sizes;
    /// For each dimension of the output: whether windows slide along it.
    std::vector<std::optional<Window>> windows;
    /// Of both tensors that are read, the output, and places or channels in it. Empty: all 0.
    core::Strides first;
    core::Strides second;
    core::Strides output;
    core::Strides other;
    std::vector<BufferRef> buffers;
    /// The output has no gaps.
    bool packed = false;

    /// Sets where the output is.
    void write_to(const core::TensorDesc& target);
};

[[nodiscard]] Dispatch window_dispatch(const WindowPass& pass);

/// All that passes with this function may name, of elements of such widths.
[[nodiscard]] std::vector<ShaderVariant> window_variants(std::uint32_t function,
                                                         std::initializer_list<std::uint32_t> widths);

/// Of a tensor without gaps. The element count must fit.
[[nodiscard]] core::Strides row_major_strides(const core::Dimensions& sizes);

}  // namespace dmlconform::d3d12

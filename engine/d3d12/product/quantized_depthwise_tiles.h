// How shaders/product/quantized_depthwise_tiled.hlsl divides its work.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// QUANTIZED_LINEAR_CONVOLUTION in two dimensions. Tensors of three dimensions have height 1. Refers to the descriptor.
struct QuantizedConvolution {
    struct Axis {
        std::uint32_t input = 1;
        std::uint32_t filter = 1;
        std::uint32_t output = 1;
        std::uint32_t stride = 1;
        std::uint32_t dilation = 1;
        std::uint32_t padding = 0;  // at the start
    };

    explicit QuantizedConvolution(const operators::Descriptor& descriptor);

    const core::TensorDesc& input;
    const core::TensorDesc& filter;
    const core::TensorDesc& output;
    std::uint32_t groups;
    Axis height;
    Axis width;

    [[nodiscard]] std::uint32_t output_channels() const { return output.sizes[1]; }
    /// The number of filter elements in one channel.
    [[nodiscard]] std::uint64_t taps() const { return std::uint64_t{height.filter} * width.filter; }
};

/// The output of a thread group, and the input that it needs. A "four" is four consecutive columns.
struct DepthwiseTile {
    std::uint64_t channels = 1;
    std::uint64_t rows = 0;
    std::uint64_t fours = 0;
    std::uint64_t input_rows = 0;
    std::uint64_t input_segments = 0;  // per row
    std::uint64_t row_taps = 0;        // groups of four filter elements in a row of the filter

    /// The number of rows, divided by the number of rows that a thread computes.
    [[nodiscard]] std::uint64_t turns() const;
    [[nodiscard]] std::uint64_t threads() const { return channels * turns() * fours; }
    [[nodiscard]] std::uint64_t segments() const { return channels * input_rows * input_segments; }
};

/// Empty if the shader does not support the convolution, or if it would read much more than it writes.
[[nodiscard]] std::optional<DepthwiseTile> depthwise_tile(const QuantizedConvolution& op);

}  // namespace dmlconform::d3d12

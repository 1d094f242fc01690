// How shaders/product/quantized_depthwise_tiled.hlsl divides its work.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/operators/rules/quantized_linear_convolution.h"

namespace dmlconform::d3d12 {

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
[[nodiscard]] std::optional<DepthwiseTile> depthwise_tile(const operators::QuantizedLinearConvolution& op);

}  // namespace dmlconform::d3d12

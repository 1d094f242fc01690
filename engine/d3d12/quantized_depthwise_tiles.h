// How shaders/quantized_depthwise_tiled.hlsl divides its work.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/operators/rules/quantized_linear_convolution.h"

namespace dmlconform::d3d12 {

/// What a group of threads makes, and the input that this takes. A four is four columns that follow one another.
struct DepthwiseTile {
    std::uint64_t channels = 1;
    std::uint64_t rows = 0;
    std::uint64_t fours = 0;
    std::uint64_t input_rows = 0;
    std::uint64_t input_stretches = 0;  // of each row
    std::uint64_t row_taps = 0;         // fours of taps in a row of the filter

    /// Rows, divided by those that a thread makes.
    [[nodiscard]] std::uint64_t turns() const;
    [[nodiscard]] std::uint64_t threads() const { return channels * turns() * fours; }
    [[nodiscard]] std::uint64_t stretches() const { return channels * input_rows * input_stretches; }
};

/// None where the shader cannot take the convolution, or where it would read much more than it makes.
[[nodiscard]] std::optional<DepthwiseTile> depthwise_tile(const operators::QuantizedLinearConvolution& op);

}  // namespace dmlconform::d3d12

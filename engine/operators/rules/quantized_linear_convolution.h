// QUANTIZED_LINEAR_CONVOLUTION: convolution of 8-bit tensors with an exact integer accumulator and a final
// requantisation.
#pragma once

#include <array>
#include <cstdint>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// The operator as a 2-D convolution. A 3-D tensor {N,C,W} has height 1, as in ONNX Runtime. Refers to the descriptor,
/// which must be valid and outlive it.
struct QuantizedLinearConvolution {
    explicit QuantizedLinearConvolution(const Descriptor& descriptor);

    /// One spatial dimension: 0 is height, 1 is width.
    struct Spatial {
        std::uint32_t input = 1;
        std::uint32_t filter = 1;
        std::uint32_t output = 1;
        std::uint32_t stride = 1;
        std::uint32_t dilation = 1;
        std::uint32_t start_padding = 0;
        std::uint32_t end_padding = 0;
    };

    const core::TensorDesc& input;
    const core::TensorDesc& filter;
    const core::TensorDesc& output;
    std::uint32_t batch = 0;
    std::uint32_t input_channels = 0;
    std::uint32_t output_channels = 0;
    /// Input channels of one group.
    std::uint32_t group_channels = 0;
    std::uint32_t groups = 0;
    std::array<Spatial, 2> spatial;
    /// True if the filter has one scale (zero point) per output channel.
    bool per_channel_scale = false;
    bool per_channel_zero_point = false;
};

}  // namespace dmlconform::operators

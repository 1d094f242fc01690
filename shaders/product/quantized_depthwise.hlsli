// Common part of the shaders for QUANTIZED_LINEAR_CONVOLUTION with one input channel per group.
//
// A plane is an output channel of a batch. A tap is an element of the filter. Products of two 8-bit numbers relative to
// their zero points are at most 255 * 255 in magnitude. FP32 sums DEPTHWISE_EXACT_TAPS of them exactly, which is faster
// than integer arithmetic on most GPUs.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float32.hlsli"

#include "shaders/product/quantized_depthwise_parameters.hlsli"

#define BYTES 2  // the packing of 8-bit elements


RWStructuredBuffer<uint> input : register(u0);
RWStructuredBuffer<uint> input_scale : register(u1);
RWStructuredBuffer<uint> input_zero_point : register(u2);
RWStructuredBuffer<uint> filter : register(u3);
RWStructuredBuffer<uint> filter_scale : register(u4);
RWStructuredBuffer<uint> filter_zero_point : register(u5);
RWStructuredBuffer<uint> bias : register(u6);
RWStructuredBuffer<uint> output_scale : register(u7);
RWStructuredBuffer<uint> output_zero_point : register(u8);
RWStructuredBuffer<uint> output : register(u9);

// An 8-bit number from its bits.
int number_from(uint bits, uint sign) {
    return int(bits ^ sign) - int(sign);
}

int input_zero() {
    return has_input_zero_point ? number_from(LOAD_ELEMENT(input_zero_point, BYTES, 0), input_sign) : 0;
}

int filter_zero(uint channel) {
    const uint offset = channel * filter_zero_point_step;
    return has_filter_zero_point ? number_from(LOAD_ELEMENT(filter_zero_point, BYTES, offset), filter_sign) : 0;
}

int output_zero() {
    return has_output_zero_point ? number_from(LOAD_ELEMENT(output_zero_point, BYTES, 0), output_sign) : 0;
}

int bias_of(uint channel) {
    return has_bias ? int(bias[channel * bias_step]) : 0;
}

// inputScale * filterScale / outputScale.
float multiplier_of(uint channel) {
    precise const float product = asfloat(input_scale[0]) * asfloat(filter_scale[channel * filter_scale_step]);
    return divide_exactly(product, asfloat(output_scale[0]));
}

// The lowest number of the output's type.
float lowest_output() {
    return output_sign != 0 ? -128 : 0;
}

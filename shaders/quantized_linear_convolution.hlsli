// What the shaders of QUANTIZED_LINEAR_CONVOLUTION share: tensors, taps, and the step from accumulators to the output.
//
// A tap is one position of the filter in one of its channels; an output element sums over all taps. Products of two
// 8-bit numbers with their zero points subtracted are at most 255 * 255 in magnitude. FP32 sums TAPS_PER_FLUSH of them
// exactly, and is faster at that than integers are on most GPUs.
//
// Where there are very many taps they are cut into slices, which different groups sum, and a dispatch of another shader
// brings together. 32 bits hold the sum of a slice.
//
// FINISH  1: there is one slice, and outputs are computed from its sums. 0: sums go to a temporary.

#include "dispatch.hlsli"
#include "elements.hlsli"
#include "float32.hlsli"

#define BYTES 2  // as packing
#define TAPS_PER_FLUSH 256

cbuffer Parameters : register(b0) {
    uint batch;
    uint output_channels;
    uint group_input_channels;
    uint group_output_channels;
    uint2 input_size;  // height, width
    uint2 filter_size;
    uint2 output_size;
    uint2 window_stride;
    uint2 dilation;
    uint2 start_padding;
    uint4 input_strides;  // batch, channel, height, width
    uint4 filter_strides;
    uint4 output_strides;
    uint input_sign;  // 0x80 for INT8, else 0
    uint filter_sign;
    uint output_sign;
    uint has_input_zero_point;
    uint has_filter_zero_point;
    uint has_bias;
    uint has_output_zero_point;
    uint filter_scale_step;  // from one output channel to the next; 0 when they share one
    uint filter_zero_point_step;
    uint bias_step;
    uint output_is_packed;
    uint slice_count;
    uint taps_per_slice;
    uint inputs_adjacent;  // 1: outputs side by side in a row read inputs side by side in memory
    uint quads_in_rows;    // 1: rows of the output are whole fours
    uint filter_packed;    // 1: the taps of an output channel are side by side in memory
};

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
// Of each slice, all output elements in row-major order.
RWStructuredBuffer<int> slice_sums : register(u10);

uint element_total() {
    return batch * output_channels * output_size.x * output_size.y;
}

uint tap_total() {
    return group_input_channels * filter_size.x * filter_size.y;
}

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

float input_number(uint offset, int zero) {
    return float(number_from(LOAD_ELEMENT(input, BYTES, offset), input_sign) - zero);
}

float filter_number(uint offset, int zero) {
    return float(number_from(LOAD_ELEMENT(filter, BYTES, offset), filter_sign) - zero);
}

// Four numbers side by side, from their bits.
float4 four_numbers(uint word, uint sign, int zero) {
    const uint4 bits = uint4(word, word >> 8, word >> 16, word >> 24) & 0xff;
    return float4(int4(bits ^ sign) - (int(sign) + zero));
}

// Four elements side by side, which may lie in two words.
uint four_inputs(uint offset) {
    const uint shift = SHIFT_OF(BYTES, offset);
    uint word = input[WORD_OF(BYTES, offset)] >> shift;
    if (shift != 0) {
        word |= input[WORD_OF(BYTES, offset) + 1] << (32 - shift);
    }
    return word;
}

uint four_filters(uint offset) {
    const uint shift = SHIFT_OF(BYTES, offset);
    uint word = filter[WORD_OF(BYTES, offset)] >> shift;
    if (shift != 0) {
        word |= filter[WORD_OF(BYTES, offset) + 1] << (32 - shift);
    }
    return word;
}

// The inputs in these columns of the row that starts at an offset, for four outputs side by side. Padding stands for
// the zero point and is 0.
float4 inputs_in_row(uint row_start, uint4 columns, int zero) {
    float4 numbers = 0;
    if (inputs_adjacent && columns.x < input_size.y && columns.w < input_size.y) {
        numbers = four_numbers(four_inputs(row_start + columns.x), input_sign, zero);
    } else {
        if (columns.x < input_size.y) {
            numbers.x = input_number(row_start + columns.x * input_strides.w, zero);
        }
        if (columns.y < input_size.y) {
            numbers.y = input_number(row_start + columns.y * input_strides.w, zero);
        }
        if (columns.z < input_size.y) {
            numbers.z = input_number(row_start + columns.z * input_strides.w, zero);
        }
        if (columns.w < input_size.y) {
            numbers.w = input_number(row_start + columns.w * input_strides.w, zero);
        }
    }
    return numbers;
}

// Where the window of an output position begins: padding is left of and above 0, which wraps around to very large
// numbers.
uint2 window_origin(uint2 position) {
    return position * window_stride - start_padding;
}

// inputScale * filterScale / outputScale.
float multiplier_of(uint channel) {
    precise const float product = asfloat(input_scale[0]) * asfloat(filter_scale[channel * filter_scale_step]);
    return divide_exactly(product, asfloat(output_scale[0]));
}

int bias_of(uint channel) {
    return has_bias ? int(bias[channel * bias_step]) : 0;
}

int output_zero() {
    return has_output_zero_point ? number_from(LOAD_ELEMENT(output_zero_point, BYTES, 0), output_sign) : 0;
}

// The output's bits for a sum over all taps, which the bias is added to in 64 bits.
uint requantise(int2 sum, int bias_value, float multiplier, int zero) {
    const uint low = uint(sum.x) + uint(bias_value);
    const int high = sum.y + (bias_value < 0 ? -1 : 0) + (low < uint(sum.x) ? 1 : 0);
    precise const float scaled = float_from_int64(high, low) * multiplier;
    // Neither scale may be 0 or infinite; if one is, let there at least be the same output everywhere.
    const float rounded = is_nan(scaled) ? 0 : round(scaled);
    const float lowest = output_sign != 0 ? -128 : 0;
    return uint(int(clamp(rounded + float(zero), lowest, lowest + 255))) & 0xff;
}

// A 32-bit sum as a 64-bit one: low and high word.
int2 widened(int sum) {
    return int2(sum, sum >> 31);
}

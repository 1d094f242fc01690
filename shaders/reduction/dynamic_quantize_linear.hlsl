// DYNAMIC_QUANTIZE_LINEAR: quantises elements to 8 bits with a scale and zero point that cover the range of the input.
//
// The smallest and the largest element were computed by reduction.hlsl. A thread computes four elements.

#include "operator_numbers.hlsli"
#include "shaders/common/activation.hlsli"
#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/element_wise/element_wise_functions.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/reduction/dynamic_quantize_linear_parameters.hlsli"

#define PACKING_8 2

RWStructuredBuffer<uint> input : register(u0);
RWStructuredBuffer<uint> range : register(u1);
RWStructuredBuffer<uint> output : register(u2);
RWStructuredBuffer<uint> output_scale : register(u3);
RWStructuredBuffer<uint> output_zero_point : register(u4);

// The inverse of order_of.
float number_of_order(int order) {
    return asfloat(order < 0 ? 0x80000000u - uint(order) : uint(order));
}

// Rounds to integers. NaN becomes the lowest code.
float4 saturated(float4 x, float lowest) {
    const float4 above = x > lowest ? x : lowest;
    const float4 bounded = above < lowest + 255 ? above : lowest + 255;
    return is_nan(x) ? lowest : bounded;
}

uint2 offsets_of(uint number) {
    STRIDED_OFFSETS(offsets, 1, number, dimensions, dimension_count)
    return offsets[0].yz;
}

float4 loaded(uint number) {
    uint4 bits = 0;
    [loop] for (uint k = 0; k < 4; ++k) {
        const uint offset = offsets_of(min(number + k, element_count - 1)).x;
        bits = uint4(bits.yzw, LOAD_ELEMENT(input, input_packing, offset));
    }
    return input_kind == KIND_FLOAT16 ? float_from_half(bits) : asfloat(bits);
}

void store(uint number, uint4 bits) {
    if (output_is_packed) {
        output[number / 4] = (bits.x & 0xff) | (bits.y & 0xff) << 8 | (bits.z & 0xff) << 16 | bits.w << 24;
    } else {
        [loop] for (uint k = 0; k < min(element_count - number, 4); ++k) {
            STORE_ELEMENT(output, PACKING_8, offsets_of(number + k).y, bits.x)
            bits = bits.yzwx;
        }
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = 4 * (linear_group(group_id) * GROUP_SIZE + thread);
    if (number < element_count) {
        const float least = number_of_order(int(range[0]));
        const float most = number_of_order(int(range[1]));
        const float lowest = output_is_signed ? -128 : 0;
        // A loop, so that the code of the division exists once. It divides the range, the smallest element, and
        // the elements.
        float scale = 255;
        float zero_point = 0;
        float4 dividend = most - least;
        float4 quotient = 0;
        [loop] for (uint turn = 0; turn < 3; ++turn) {
            quotient = divide_exactly(dividend, scale);
            if (turn == 0) {
                scale = quotient.x;
                dividend = least;
            } else if (turn == 1) {
                zero_point = saturated(round(lowest - quotient), lowest).x;
                dividend = loaded(number);
            }
        }
        store(number, uint4(int4(saturated(round(quotient) + zero_point, lowest))));
        if (number == 0) {
            output_scale[0] = asuint(scale);
            STORE_ELEMENT(output_zero_point, PACKING_8, 0, uint(int(zero_point)))
        }
    }
}

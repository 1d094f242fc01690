// FLOAT32 quantised to integers of 8 bits, where element_wise.hlsl would compute four adjacent elements by each thread.
//
// What that shader computes for QUANTIZE and ELEMENT_WISE_QUANTIZE_LINEAR, with the same constant buffer. Four such elements are 16 bytes to read
// and 4 to write: so few that instructions, and not memory, would say how long it takes. So here the types are known, and a thread has four
// groups of four elements, which are all loaded before any is computed. Neighbours in memory are neighbours among threads.
//
// OPERATOR  the operator's number, as in operator_numbers.hlsli

#include "operator_numbers.hlsli"

#include "dispatch.hlsli"
#include "element_format.hlsli"
#include "float32.hlsli"
#include "quantization.hlsli"
#include "strided.hlsli"

cbuffer Parameters : register(b0) {
#include "element_wise_parameters.hlsli"
};

RWStructuredBuffer<uint4> numbers : register(u0);
RWStructuredBuffer<uint4> scales : register(u1);
RWStructuredBuffer<uint4> zero_points : register(u2);
RWStructuredBuffer<uint> quantized_words : register(u3);

#define GROUP_SIZE 256
// As in engine/d3d12/bindings/element_wise.cpp.
#define GROUPS_PER_THREAD 4
#define ROWS 2

uint word_of(uint4 words, uint index) {
    const uint2 pair = (index & 2) != 0 ? words.zw : words.xy;
    return (index & 1) != 0 ? pair.y : pair.x;
}

// Zero points of four elements, as a word of four bytes.
uint zero_point_word(uint4 words, uint offset) {
    const uint word = word_of(words, offset / 4);
    const uint same = word >> offset % 4 * 8 & 0xff;
    return operands[2].z == PLACE_ADJACENT ? word : (operands[2].z == PLACE_SAME ? same : operands[2].w) * 0x01010101;
}

// Four whole numbers from 0 to 255 as a word of four bytes.
uint packed(float4 x) {
    const uint2 pairs = uint2(x.xz + 256 * x.yw);
    return pairs.x | pairs.y << 16;
}

uint quantized_word(float4 x, float4 scale, uint zero_point) {
    // Signed integers are 128 less than unsigned ones, which is their bits with the other sign.
    const uint signs = operands[3].x == KIND_SIGNED ? 0x80808080 : 0;
    const uint moved = zero_point ^ signs;
    const float4 zero = float4(uint4(moved, moved >> 8, moved >> 16, moved >> 24) & 0xff);
#if OPERATOR == QUANTIZE
    const float nan = LOWEST;
#else
    const float nan = float(signs & 0xff);
#endif
    return packed(clamp(quantized(x, scale, zero, nan), 0, 255)) ^ signs;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint first = linear_group(group_id) * (GROUP_SIZE * GROUPS_PER_THREAD) + thread;
    uint4 x[GROUPS_PER_THREAD];
    uint4 scale[GROUPS_PER_THREAD];
    uint zero_point[GROUPS_PER_THREAD];
    uint place[GROUPS_PER_THREAD];
    [unroll] for (uint i = 0; i < GROUPS_PER_THREAD; ++i) {
        // Beyond the last group the last one is loaded again.
        const uint group = min(first + i * GROUP_SIZE, group_total - 1);
        STRIDED_OFFSETS(offsets, ROWS, group, dimensions, dimension_count)
        x[i] = numbers[offsets[0].y / 4];
        scale[i] = scales[offsets[0].z / 4];
        if (operands[1].z == PLACE_SAME) {
            scale[i] = word_of(scale[i], offsets[0].z);
        }
        zero_point[i] = zero_point_word(zero_points[offsets[0].w / 16], offsets[0].w);
        place[i] = offsets[1].x / 4;
    }
    [unroll] for (uint j = 0; j < GROUPS_PER_THREAD; ++j) {
        if (first + j * GROUP_SIZE < group_total) {
            quantized_words[place[j]] = quantized_word(asfloat(x[j]), asfloat(scale[j]), zero_point[j]);
        }
    }
}

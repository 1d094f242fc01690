// Quantises FLOAT32 to packed integers of 8 bits. It replaces element_wise.hlsl in cases where each thread of that
// shader would compute four adjacent elements.
//
// Computes the same for QUANTIZE and ELEMENT_WISE_QUANTIZE_LINEAR, with the same constant buffer. Four such elements
// are 16 bytes to read and 4 to write. Here a thread has four groups of four elements, and loads all of them before
// computing; adjacent groups belong to adjacent threads. Results are exchanged in groupshared memory, so that each
// thread writes 16 bytes, too.
//
// OPERATOR  the operator's number, as in operator_numbers.hlsli
// ALIKE     0: any scales and zero points. 1: all elements share a zero point. 2: they share a scale, too. 3: there are
//           rows, which all have the same scales and zero points

#include "operator_numbers.hlsli"

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float32.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/element_wise/element_wise_parameters.hlsli"

#include "shaders/common/quantization.hlsli"

RWStructuredBuffer<uint4> numbers : register(u0);
RWStructuredBuffer<uint4> scales : register(u1);
RWStructuredBuffer<uint4> zero_points : register(u2);
RWStructuredBuffer<uint4> quantized_units : register(u3);
RWStructuredBuffer<uint> quantized_words : register(u4);

#define ROWS 2

// The zero points of four elements, as a word of four bytes.
uint zero_point_word(uint4 words, uint offset) {
    const uint word = word_of(words, offset / 4);
    const uint same = word >> offset % 4 * 8 & 0xff;
    const uint one = operands[2].z == OPERAND_SAME ? same : operands[2].w;
    return operands[2].z == OPERAND_ADJACENT ? word : one * 0x01010101;
}

// Adding this to an integer puts its bits in the low end of the result, which is faster than a conversion.
#define INTEGERS 8388608.0

float4 bytes_of(uint word) {
    const uint4 bytes = uint4(word, word >> 8, word >> 16, word >> 24) & 0xff;
    return asfloat(bytes | asuint(INTEGERS)) - INTEGERS;
}

// Packs four integers from 0 to 255 into a word.
uint packed(float4 x) {
    const uint2 pairs = asuint(256 * x.yw + (x.xz + INTEGERS));
    return (pairs.x & 0xffff) | pairs.y << 16;
}

// Signed integers are smaller by 128 than unsigned ones, which is the same as inverting the sign bit.
uint sign_bits() {
    return operands[3].x == KIND_SIGNED ? 0x80808080 : 0;
}

uint quantized_word(float4 x, float4 scale, float4 reciprocal, bool is_reciprocal, float4 zero) {
#if OPERATOR == QUANTIZE
    const float nan = LOWEST;
#else
    const float nan = float(sign_bits() & 0xff);
#endif
    return packed(clamp(quantized_by_reciprocal(x, scale, reciprocal, is_reciprocal, zero, nan), 0, 255)) ^ sign_bits();
}

uint group_of(uint first, uint i) {
    return first + i * GROUP_SIZE;
}

// 1 / x for numbers from 2^-60 to 2^60, except for the last bits: faster than a division, which must support all
// numbers.
float4 moderate_reciprocal(float4 x) {
    const float4 magnitude = asfloat(asuint(x) & 0x7fffffff);
    return asfloat(asuint(estimated_reciprocal(magnitude)) | (asuint(x) & 0x80000000));
}

// True if all magnitudes are from 2^-60 to 2^60; compared by bits.
bool all_moderate(float4 x) {
    const uint least = 0x21800000;
    const uint4 above = (asuint(x) & 0x7fffffff) - least;
    return max(max(above.x, above.y), max(above.z, above.w)) < 0x5d800000 - least;
}

#if ALIKE == QUANTIZED_ROWS_ALIKE

// A thread has the same column of several rows, so that it loads and computes the column's parameters once. Adjacent
// threads have adjacent columns, so that they also store to adjacent addresses.
[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    const uint4 columns = dimensions[0];
    const uint4 rows = dimensions[ROWS];
    const uint block = number / columns.x;
    const uint column = number - block * columns.x;
    const uint first_row = block * QUANTIZED_GROUPS_PER_THREAD;
    if (first_row < rows.x) {
        uint4 x[QUANTIZED_GROUPS_PER_THREAD];
        uint4 scale = scales[column * columns.z / 4];
        const uint zero_index = column * columns.w;
        const uint4 zero_points_there = zero_points[zero_index / 16];
        [unroll] for (uint i = 0; i < QUANTIZED_GROUPS_PER_THREAD; ++i) {
            // Rows beyond the last one are replaced by it.
            const uint row = min(first_row + i, rows.x - 1);
            x[i] = numbers[(column * columns.y + row * rows.y) / 4];
        }
        if (operands[1].z == OPERAND_SAME) {
            scale = word_of(scale, 0);
        }
        const float4 divisor = asfloat(scale);
        const float4 reciprocal = moderate_reciprocal(divisor);
        const bool is_reciprocal = all_moderate(divisor);
        const float4 zero = bytes_of(zero_point_word(zero_points_there, zero_index) ^ sign_bits());
        [unroll] for (uint j = 0; j < QUANTIZED_GROUPS_PER_THREAD; ++j) {
            const uint word = quantized_word(asfloat(x[j]), divisor, reciprocal, is_reciprocal, zero);
            if (first_row + j < rows.x) {
                quantized_words[(first_row + j) * columns.x + column] = word;
            }
        }
    }
}

#else

groupshared uint words[GROUP_SIZE * QUANTIZED_GROUPS_PER_THREAD];

// Parameters that all elements share are loaded with the first group.
#define SHARED_SCALE(i) (ALIKE == 2 ? 0 : (i))
#define SHARED_ZERO(i) (ALIKE != 0 ? 0 : (i))

void quantize(uint first, uint thread) {
    uint4 x[QUANTIZED_GROUPS_PER_THREAD];
    uint4 scale[QUANTIZED_GROUPS_PER_THREAD];
    uint zero_point[QUANTIZED_GROUPS_PER_THREAD];
    [unroll] for (uint i = 0; i < QUANTIZED_GROUPS_PER_THREAD; ++i) {
        // Groups beyond the last one are replaced by it.
        STRIDED_OFFSETS(offsets, ROWS, min(group_of(first, i), group_total - 1), dimensions, dimension_count)
        x[i] = numbers[offsets[0].y / 4];
        if (SHARED_SCALE(i) == i) {
            scale[i] = scales[offsets[0].z / 4];
            if (operands[1].z == OPERAND_SAME) {
                scale[i] = word_of(scale[i], offsets[0].z);
            }
        }
        if (SHARED_ZERO(i) == i) {
            zero_point[i] = zero_point_word(zero_points[offsets[0].w / 16], offsets[0].w);
        }
    }
    [unroll] for (uint j = 0; j < QUANTIZED_GROUPS_PER_THREAD; ++j) {
        const float4 divisor = asfloat(scale[SHARED_SCALE(j)]);
        words[group_of(thread, j)] =
            quantized_word(asfloat(x[j]), divisor, moderate_reciprocal(divisor), all_moderate(divisor),
                           bytes_of(zero_point[SHARED_ZERO(j)] ^ sign_bits()));
    }
}

// Stores four consecutive words, or fewer at the end of the output.
void store(uint first_word, uint4 four) {
    if (first_word + 3 < group_total) {
        quantized_units[first_word / 4] = four;
        return;
    }
    [unroll] for (uint i = 0; i < 4; ++i) {
        if (first_word + i < group_total) {
            quantized_words[first_word + i] = four[i];
        }
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint first = linear_group(group_id) * (GROUP_SIZE * QUANTIZED_GROUPS_PER_THREAD);
    quantize(first + thread, thread);
    GroupMemoryBarrierWithGroupSync();
    store(first + 4 * thread,
          uint4(words[4 * thread], words[4 * thread + 1], words[4 * thread + 2], words[4 * thread + 3]));
}

#endif

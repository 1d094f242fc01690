// Attention: assembles the queries, keys or values of all heads as packed FP32. The past precedes the new rows, which
// get the bias. Also writes the present output, which has the same contents in the tensor's type and layout.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/attention/attention_heads_parameters.hlsli"

RWStructuredBuffer<uint> source : register(u0);
RWStructuredBuffer<uint> past : register(u1);
RWStructuredBuffer<uint> biases : register(u2);
RWStructuredBuffer<uint> heads : register(u3);
RWStructuredBuffer<uint> present : register(u4);

#define SOURCE_OFFSET offsets[0].y
#define PAST_OFFSET offsets[0].z
#define BIAS_OFFSET offsets[0].w
#define PRESENT_OFFSET offsets[1].x
#define POSITION offsets[1].y

uint bits_from(float number) {
    return packing == 0 ? asuint(number) : half_from_float(number).x;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < element_count) {
        STRIDED_OFFSETS(offsets, ATTENTION_HEADS_ROWS, number, dimensions, dimension_count)
        uint bits;
        float element;
        [branch] if (POSITION < past_count) {
            bits = LOAD_ELEMENT(past, packing, PAST_OFFSET);
            element = real_of(bits, packing);
        } else {
            bits = LOAD_ELEMENT(source, packing, source_start + SOURCE_OFFSET);
            element = real_of(bits, packing);
            // Without a bias, bits are copied, including those of NaNs.
            [branch] if (has_bias) {
                element += real_of(LOAD_ELEMENT(biases, packing, bias_start + BIAS_OFFSET), packing);
                bits = bits_from(element);
            }
        }
        heads[number] = asuint(element);
        if (has_present) {
            STORE_ELEMENT(present, packing, PRESENT_OFFSET, bits)
        }
    }
}

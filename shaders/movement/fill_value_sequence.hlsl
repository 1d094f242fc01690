// FILL_VALUE_SEQUENCE: the k-th element is the start plus k times the delta.
//
// A thread computes four elements. PACKED: the output is packed, in the order of the elements, so that the four are
// adjacent.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/int64.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/movement/fill_value_sequence_parameters.hlsli"

RWStructuredBuffer<uint> target : register(u0);

float4 real_sequence(uint4 k) {
    const float first = asfloat(start.x);
    const float step = asfloat(delta.x);
    // FP32 represents integers up to 2^24; larger ones are split in two.
    const uint4 rest = k & 0xffffff;
    const float4 large = float4(k - rest);
    const float4 low = mad(float4(rest), step, first);
    return k == rest ? low : mad(large, step, low);
}

Int64 sequence(uint4 k) {
    if (kind == KIND_FLOAT32) {
        return small_int64(asuint(real_sequence(k)));
    }
    if (kind == KIND_FLOAT16) {
        return small_int64(half_from_float(real_sequence(k)));
    }
    if (packing == PACKING_64) {
        return add(int64_of(start.x, start.y), multiply(small_int64(k), int64_of(delta.x, delta.y)));
    }
    return small_int64(start.x + k * delta.x);
}

void store(uint number, uint low, uint high) {
    STRIDED_OFFSETS(offsets, 1, number, dimensions, dimension_count)
    const uint offset = offsets[0].y;
    if (packing == PACKING_64) {
        target[2 * offset] = low;
        target[2 * offset + 1] = high;
    } else {
        STORE_ELEMENT(target, packing, offset, low)
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint first = FILL_VALUE_SEQUENCE_PER_THREAD * (linear_group(group_id) * GROUP_SIZE + thread);
    if (first < element_count) {
        const Int64 elements = sequence(first + uint4(0, 1, 2, 3));
        const uint count = element_count - first;
        if (packed != 0 && packing == 2) {
            target[first / 4] = (elements.low.x & 0xff) | (elements.low.y & 0xff) << 8 | (elements.low.z & 0xff) << 16 |
                                elements.low.w << 24;
        } else if (packed != 0 && packing == 1) {
            target[first / 2] = (elements.low.x & 0xffff) | elements.low.y << 16;
            if (count > 2) {
                target[first / 2 + 1] = (elements.low.z & 0xffff) | elements.low.w << 16;
            }
        } else {
            store(first, elements.low.x, elements.high.x);
            if (count > 1) {
                store(first + 1, elements.low.y, elements.high.y);
            }
            if (count > 2) {
                store(first + 2, elements.low.z, elements.high.z);
            }
            if (count > 3) {
                store(first + 3, elements.low.w, elements.high.w);
            }
        }
    }
}

// FOLD: each element of the output is the sum of the elements of all blocks that overlap there.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/float64.hlsli"

#include "shaders/movement/fold_parameters.hlsli"

RWStructuredBuffer<uint> source : register(u0);
RWStructuredBuffer<uint> target : register(u1);

// The block whose window has element `tap` at the position. Clears `hit` if there is none.
uint block_at(uint dimension, uint position, uint tap, inout bool hit) {
    const uint4 window = windows[2 * dimension];
    const uint distance = position + windows[2 * dimension + 1].x - tap * window.y;
    const uint block = distance / window.z;
    hit = hit && int(distance) >= 0 && block * window.z == distance && block < window.w;
    return block;
}

// Adds numbers of one or two words.
uint2 sum(uint2 total, uint2 term) {
    if (kind == KIND_FLOAT64) {
        return add_doubles(total, term);
    }
    if (kind == KIND_FLOAT32) {
        return uint2(asuint(asfloat(total.x) + asfloat(term.x)), 0);
    }
    if (kind == KIND_FLOAT16) {
        return uint2(asuint(asfloat(total.x) + float_from_half(term.x).x), 0);
    }
    const uint low = total.x + term.x;
    return uint2(low, total.y + term.y + (low < term.x ? 1 : 0));
}

uint2 term_at(uint offset) {
    if (packing == PACKING_64) {
        return uint2(source[2 * offset], source[2 * offset + 1]);
    }
    const uint bits = LOAD_ELEMENT(source, packing, offset);
    const uint unused_bits = 32 - BITS_OF(packing);
    return uint2(kind == KIND_SIGNED ? uint(int(bits << unused_bits) >> unused_bits) : bits, 0);
}

// 8-bit and 16-bit sums are computed in 32 bits and clamped.
uint narrowed(uint total) {
    if (kind == KIND_FLOAT16) {
        return half_from_float(asfloat(total)).x;
    }
    if (packing == 0) {
        return total;
    }
    const int most = int(MASK_OF(packing) >> 1);
    return kind == KIND_SIGNED ? uint(clamp(int(total), -most - 1, most)) : min(total, MASK_OF(packing));
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < element_count) {
        uint rest = number;
        uint from = 0;
        uint to = 0;
        uint positions[MOST_WINDOW_DIMENSIONS + 1];
        [loop] for (uint d = 0; d < dimension_count; ++d) {
            const uint quotient = rest / dimensions[d].x;
            const uint index = rest - quotient * dimensions[d].x;
            from += index * dimensions[d].y;
            to += index * dimensions[d].z;
            positions[dimensions[d].w] = index;
            rest = quotient;
        }
        uint2 total = 0;
        [loop] for (uint window = 0; window < window_count; ++window) {
            uint window_rest = window;
            uint block = 0;
            bool hit = true;
            // The last dimension changes fastest.
            [loop] for (uint w = window_dimension_count; w > 0; --w) {
                const uint size = windows[2 * (w - 1)].x;
                const uint quotient = window_rest / size;
                block += block_at(w - 1, positions[w - 1], window_rest - quotient * size, hit) *
                         windows[2 * (w - 1) + 1].y;
                window_rest = quotient;
            }
            if (hit) {
                total = sum(total, term_at(from + window * window_stride + block * block_stride));
            }
        }
        if (packing == PACKING_64) {
            target[2 * to] = total.x;
            target[2 * to + 1] = total.y;
        } else {
            STORE_ELEMENT(target, packing, to, narrowed(total.x))
        }
    }
}

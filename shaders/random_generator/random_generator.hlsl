// RANDOM_GENERATOR: Philox 4x32-10.
//
// A thread computes the elements of four values of the counter, which are a group's size apart, each in a lane of its
// vectors. PACKED: the output is packed, in the order of the elements.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/int64.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/random_generator/random_generator_parameters.hlsli"

#define ROUNDS 10

RWStructuredBuffer<uint> state : register(u0);
RWStructuredBuffer<uint> target : register(u1);
RWStructuredBuffer<uint> new_state : register(u2);

// The words of four counters, least significant first.
struct Counters {
    uint4 word0;
    uint4 word1;
    uint4 word2;
    uint4 word3;
};

Counters counters_after(uint4 steps) {
    Counters result;
    uint4 carry = steps;
    result.word0 = state[0] + carry;
    carry = result.word0 < carry ? 1u : 0u;
    result.word1 = state[state_stride] + carry;
    carry = result.word1 < carry ? 1u : 0u;
    result.word2 = state[2 * state_stride] + carry;
    carry = result.word2 < carry ? 1u : 0u;
    result.word3 = state[3 * state_stride] + carry;
    return result;
}

Counters enciphered(Counters block) {
    uint2 key = uint2(state[4 * state_stride], state[5 * state_stride]);
    [loop] for (uint round = 0; round < ROUNDS; ++round) {
        const Int64 even = wide_product(block.word0, 0xd2511f53u);
        const Int64 odd = wide_product(block.word2, 0xcd9e8d57u);
        block.word0 = odd.high ^ block.word1 ^ key.x;
        block.word2 = even.high ^ block.word3 ^ key.y;
        block.word1 = odd.low;
        block.word3 = even.low;
        key += uint2(0x9e3779b9u, 0xbb67ae85u);
    }
    return block;
}

void store_element(uint number, uint element) {
    if (number < element_count) {
        if (packed != 0) {
            target[number] = element;
        } else {
            STRIDED_OFFSETS(offsets, 1, number, dimensions, dimension_count)
            target[offsets[0].y] = element;
        }
    }
}

void store_block(uint block, uint4 elements) {
    // Compares blocks instead of elements, because element numbers after the last block may exceed 32 bits.
    if (block <= (element_count - 1) / 4) {
        store_element(4 * block, elements.x);
        store_element(4 * block + 1, elements.y);
        store_element(4 * block + 2, elements.z);
        store_element(4 * block + 3, elements.w);
    }
}

void store_state() {
    const Counters counters = counters_after((element_count - 1) / 4 + 1);
    new_state[0] = counters.word0.x;
    new_state[new_state_stride] = counters.word1.x;
    new_state[2 * new_state_stride] = counters.word2.x;
    new_state[3 * new_state_stride] = counters.word3.x;
    new_state[4 * new_state_stride] = state[4 * state_stride];
    new_state[5 * new_state_stride] = state[5 * state_stride];
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint group = linear_group(group_id);
    const uint4 blocks = RANDOM_GENERATOR_BLOCKS * GROUP_SIZE * group + thread + GROUP_SIZE * uint4(0, 1, 2, 3);
    const Counters made = enciphered(counters_after(blocks));
    store_block(blocks.x, uint4(made.word0.x, made.word1.x, made.word2.x, made.word3.x));
    store_block(blocks.y, uint4(made.word0.y, made.word1.y, made.word2.y, made.word3.y));
    store_block(blocks.z, uint4(made.word0.z, made.word1.z, made.word2.z, made.word3.z));
    store_block(blocks.w, uint4(made.word0.w, made.word1.w, made.word2.w, made.word3.w));
    if (has_new_state != 0 && group == 0 && thread == 0) {
        store_state();
    }
}

// NONZERO_COORDINATES: writes the coordinates of elements that are not 0, in order.
//
// A group processes a chunk of the elements. reduction.hlsl has computed how many each chunk has.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/reduction/nonzero_coordinates_parameters.hlsli"

#include "shaders/common/not_zero.hlsli"

#define BLOCK_SIZE 16

RWStructuredBuffer<uint> input : register(u0);
RWStructuredBuffer<uint> counts : register(u1);
RWStructuredBuffer<uint> total : register(u2);
RWStructuredBuffer<uint> target : register(u3);

groupshared uint numbers[GROUP_SIZE];

// Replaces each thread's number by the sum over its block up to that thread.
void sum_blocks(uint thread, uint number) {
    numbers[thread] = number;
    GroupMemoryBarrierWithGroupSync();
    if (thread < GROUP_SIZE / BLOCK_SIZE) {
        uint sum = 0;
        [loop] for (uint i = 0; i < BLOCK_SIZE; ++i) {
            sum += numbers[thread * BLOCK_SIZE + i];
            numbers[thread * BLOCK_SIZE + i] = sum;
        }
    }
    GroupMemoryBarrierWithGroupSync();
}

// The sum of the first blocks.
uint sum_of_blocks(uint count) {
    uint sum = 0;
    [loop] for (uint block = 0; block < count; ++block) {
        sum += numbers[block * BLOCK_SIZE + BLOCK_SIZE - 1];
    }
    return sum;
}

bool is_hit(uint number) {
    if (number >= element_count) {
        return false;
    }
    STRIDED_OFFSETS(offsets, 1, number, dimensions, dimension_count)
    return is_not_zero(LOAD_ELEMENT(input, input_packing, offsets[0].y)).x != 0;
}

void store_coordinates(uint number, uint row) {
    uint rest = number;
    [loop] for (uint c = 0; c < coordinate_count; ++c) {
        const uint quotient = rest / coordinates[c].x;
        target[row * row_stride + coordinates[c].y] = rest - quotient * coordinates[c].x;
        rest = quotient;
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint chunk = linear_group(group_id);
    uint before = 0;
    [loop] for (uint i = thread; i < min(chunk, chunk_count); i += GROUP_SIZE) {
        before += counts[i];
    }
    sum_blocks(thread, before);
    uint row = sum_of_blocks(GROUP_SIZE / BLOCK_SIZE);
    GroupMemoryBarrierWithGroupSync();
    if (thread == 0 && chunk == chunk_count - 1) {
        total[0] = row + counts[chunk];
    }

    const uint first = chunk * elements_per_chunk;
    [loop] for (uint tile = 0; tile < elements_per_chunk; tile += GROUP_SIZE) {
        const uint number = first + tile + thread;
        const bool hit = chunk < chunk_count && is_hit(number);
        sum_blocks(thread, hit ? 1 : 0);
        if (hit) {
            const uint up_to = sum_of_blocks(thread / BLOCK_SIZE) + numbers[thread];
            store_coordinates(number, row + up_to - 1);
        }
        row += sum_of_blocks(GROUP_SIZE / BLOCK_SIZE);
        GroupMemoryBarrierWithGroupSync();
    }
}

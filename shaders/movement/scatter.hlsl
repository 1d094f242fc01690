// Finds the update that every element of an output gets: the index of the last one, plus 1. Elements without an update
// keep 0.
//
// The result does not depend on the order of threads, so that it is reproducible if several updates have the same
// target.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/movement/scatter_parameters.hlsli"

RWStructuredBuffer<uint> indices : register(u0);
RWStructuredBuffer<uint> winners : register(u1);

#include "shaders/movement/indices.hlsli"

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < update_count) {
        STRIDED_OFFSETS(offsets, 1, number, dimensions, dimension_count)
        uint element = offsets[0].z;
        bool inside = true;
        [loop] for (uint i = 0; i < tuple_size; ++i) {
            const Index index = index_at(offsets[0].w + i * tuple_stride, tuple[i].x);
            inside = inside && index.inside;
            element += index.value * tuple[i].y;
        }
        if (inside) {
            InterlockedMax(winners[element], offsets[0].y + 1);
        }
    }
}

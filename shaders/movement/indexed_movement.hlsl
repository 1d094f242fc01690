// Operators that read at indices from a tensor, as copies of units.
//
// WIDTH   bits of the units: see units.hlsli.
// PACKED  for less than 32 bits. 1: the output has no gaps, so a thread writes a whole word. 0: each thread writes a
//         single unit.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/movement/units.hlsli"

#include "shaders/movement/indexed_movement_parameters.hlsli"

RWStructuredBuffer<Unit> source : register(u0);
RWStructuredBuffer<Unit> updates : register(u1);
RWStructuredBuffer<uint> indices : register(u2);
RWStructuredBuffer<Unit> target : register(u3);

#include "shaders/movement/indices.hlsli"

// The address of a gathered unit in the source; `start` is its address for indices of 0.
uint gathered(uint start, uint first_index) {
    uint from = start;
    [loop] for (uint i = 0; i < tuple_size; ++i) {
        from += index_at(first_index + i * tuple_stride, tuple[i].x).value * tuple[i].y;
    }
    return from;
}

// The position that is read if the first `index` positions of the sequence are reversed.
uint reversed(uint position, uint index) {
    const bool longer = index_words == 2 && indices[index * index_words + index_words - 1] != 0;
    const uint length = longer ? tuple[0].x : min(indices[index * index_words], tuple[0].x);
    return position < length ? length - 1 - position : position;
}

Unit unit_at(uint start, uint index, uint position) {
    uint from = start;
    if (kind == KIND_RESOLVE) {
        const uint winner = indices[index];
        if (winner != 0) {
            return LOAD_UNIT(updates, winner - 1);
        }
        if (has_source == 0) {
            return (Unit)0;
        }
    } else if (kind == KIND_GATHER) {
        from = gathered(start, index);
    } else if (kind == KIND_REVERSE) {
        from = start + reversed(position, index) * tuple[0].y;
    } else {
        const Index hot = index_at(index, tuple[0].x);
        if (hot.inside && hot.value == position) {
            from = start + tuple[0].y;
        }
    }
    return LOAD_UNIT(source, from);
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
#if PACKED
    if (number < (unit_count + PER_WORD - 1) / PER_WORD) {
        uint word = 0;
        [loop] for (uint i = 0; i < PER_WORD && number * PER_WORD + i < unit_count; ++i) {
            STRIDED_OFFSETS(offsets, 2, number * PER_WORD + i, dimensions, dimension_count)
            word |= unit_at(source_start + offsets[0].y, offsets[0].w, offsets[1].x) << (i * WIDTH);
        }
        target[number] = word;
    }
#else
    if (number < unit_count) {
        STRIDED_OFFSETS(offsets, 2, number, dimensions, dimension_count)
        const Unit unit = unit_at(source_start + offsets[0].y, offsets[0].w, offsets[1].x);
        STORE_UNIT(target, offsets[0].z, unit)
    }
#endif
}

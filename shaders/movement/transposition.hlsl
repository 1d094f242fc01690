// Copies units whose neighbours in the output are far apart in the source, and vice versa, by square tiles in
// groupshared memory: both sides are accessed in whole words, and adjacent threads access adjacent words.
//
// WIDTH  bits of the units, up to 64: see units.hlsli. Rows of both tensors are whole words.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/movement/units.hlsli"

#include "shaders/movement/transposition_parameters.hlsli"

#define ROWS_AT_ONCE (GROUP_SIZE / TILE_WORDS)
// Units along a side of a tile.
#define TILE (TILE_WORDS * PER_WORD)
// One more than necessary, so that columns are spread over the memory banks.
#define PITCH (TILE_WORDS + 1)

RWStructuredBuffer<Unit> source : register(u0);
RWStructuredBuffer<Unit> target : register(u1);

// Words of adjacent units of the source, one line for each position in the output's row.
groupshared Unit tile[TILE * PITCH];

// The word of the output's row `row` of a tile that contains the units from number `first` on.
Unit transposed_word(uint first, uint row) {
#if PER_WORD == 1
    return tile[first * PITCH + row];
#else
    uint word = 0;
    [unroll] for (uint i = 0; i < PER_WORD; ++i) {
        const uint unit = tile[(first + i) * PITCH + row / PER_WORD] >> (row % PER_WORD * WIDTH) & MASK_OF(PACKING);
        word |= unit << (i * WIDTH);
    }
    return word;
#endif
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    // Surplus groups process the last tile again, with the same result.
    const uint number = min(linear_group(group_id), tile_count - 1);
    const uint line_of_tiles = number / tiles_per_row;
    const uint first_in_row = (number - line_of_tiles * tiles_per_row) * TILE;
    const uint others = line_of_tiles / tiles_per_column;
    const uint first_in_column = (line_of_tiles - others * tiles_per_column) * TILE;
    uint3 starts = uint3(source_start, target_start, 0);
    ADD_STRIDED_OFFSETS(starts, others, dimensions, dimension_count)
    const uint row_count = min(TILE, column_size - first_in_column);
    const uint line_count = min(TILE, row_size - first_in_row);
    const uint word = thread % TILE_WORDS;
    const uint first = thread / TILE_WORDS;
    const uint from = starts.x + first_in_row * source_stride + first_in_column;
    const uint to = starts.y + first_in_column * target_stride + first_in_row;
    uint i;

    if (word * PER_WORD < row_count) {
        Unit words[TILE / ROWS_AT_ONCE];
        [unroll] for (i = 0; i < TILE / ROWS_AT_ONCE; ++i) {
            // Lines beyond the end are replaced by the tensor's last one.
            const uint line_number = min(first + i * ROWS_AT_ONCE, line_count - 1);
            words[i] = source[(from + line_number * source_stride) / PER_WORD + word];
        }
        [unroll] for (i = 0; i < TILE / ROWS_AT_ONCE; ++i) {
            tile[(first + i * ROWS_AT_ONCE) * PITCH + word] = words[i];
        }
    }
    GroupMemoryBarrierWithGroupSync();
    if (word * PER_WORD < line_count) {
        [unroll] for (i = 0; i < TILE / ROWS_AT_ONCE; ++i) {
            const uint row = first + i * ROWS_AT_ONCE;
            if (row < row_count) {
                target[(to + row * target_stride) / PER_WORD + word] = transposed_word(word * PER_WORD, row);
            }
        }
    }
}

// Products of 8-bit integers in small tiles, for outputs so small that larger tiles would leave most of a GPU idle.
//
// A thread group computes a tile of 32 rows by 32 columns. It has four parts, each of which sums a quarter of the depth
// of every k-step. So the group is large enough to hide the latency of memory, and no second dispatch is needed to add
// slices. A thread computes 4 by 4 elements in registers. As in product_tiled.hlsl, one k-step is multiplied while the
// next is being loaded. In the end the sums of the parts are added in groupshared memory.
//
// FP32 sums products of 8-bit integers exactly up to 2^24, and faster than integer arithmetic. That is 256 products of
// 255 times 255, so a slice of the depth has at most PRODUCT_PARTED_DEPTH terms.
//
// WINDOW   see product.hlsli
// NUMBERS  PRODUCT_INTEGER

#include "shaders/product/product.hlsli"
#include "shaders/product/product_window.hlsli"

#define SIDE 32
// The depth is a multiple of the k-step.
#define WHOLE 1
#define A_PACKING 2
#define B_PACKING 2
#define TURN PRODUCT_TURN_DEPTH(SIDE)
#define LANES (SIDE / 4)  // groups of four in a row of a tile
#define PART_SIZE (LANES * LANES)
#define PARTS (GROUP_SIZE / PART_SIZE)
#define PART_DEPTH (TURN / PARTS)
// Padded, so that threads that write a column use different memory banks.
#define TILE_ROW (SIDE + 4)
#define TILE_SIZE (TURN * TILE_ROW)

#define Term4 float4
#define IS_CENTRED 0

// Two k-steps of A, then two of B. From the index computations, compilers see that four adjacent elements can be read
// at once.
groupshared float tile[4 * TILE_SIZE];
#define B_TILE (2 * TILE_SIZE)
#define FOUR_OF_TILE(first) float4(tile[first], tile[(first) + 1], tile[(first) + 2], tile[(first) + 3])

#define PUT_FOUR(first, share, terms)                                     \
    {                                                                     \
        const uint4 to = (first) + share.depths * TILE_ROW + share.lines; \
        tile[to.x] = terms.x;                                             \
        tile[to.y] = terms.y;                                             \
        tile[to.z] = terms.z;                                             \
        tile[to.w] = terms.w;                                             \
    }
#define PUT_A(first, share, terms) PUT_FOUR(first, share, terms)
#define PUT_B(first, share, terms) PUT_FOUR((first) + B_TILE, share, terms)
#if WINDOW
#define A_IN_WORDS 0
#else
#define A_IN_WORDS a_in_words
#endif

#include "shaders/product/product_reading.hlsli"

// What a thread computes: the rows and columns that start at 4 times these numbers, for one part of each k-step.
struct Block {
    uint part;
    uint row_quad;
    uint column_quad;
    float4 sums[4];
};

Block empty_block(uint thread) {
    Block block;
    block.part = thread / PART_SIZE;
    block.column_quad = thread % LANES;
    block.row_quad = thread % PART_SIZE / LANES;
    [unroll] for (uint i = 0; i < 4; ++i) {
        block.sums[i] = 0;
    }
    return block;
}

// Adds the products of a k-step, which is in this buffer of the tiles.
void multiply_turn(inout Block block, uint buffer) {
    // Groups of four, which compilers recognise by the multiplication.
    const uint from = buffer * (TILE_SIZE / 4) + block.part * (PART_DEPTH * TILE_ROW / 4);
    uint a_from = (from + block.row_quad) * 4;
    uint b_from = (from + block.column_quad) * 4 + B_TILE;
    [unroll] for (uint k = 0; k < PART_DEPTH; ++k) {
        const float4 columns = FOUR_OF_TILE(b_from);
        const float4 rows = FOUR_OF_TILE(a_from);
        block.sums[0] += rows.x * columns;
        block.sums[1] += rows.y * columns;
        block.sums[2] += rows.z * columns;
        block.sums[3] += rows.w * columns;
        a_from += TILE_ROW;
        b_from += TILE_ROW;
    }
}

// Puts a thread's sums into the tile of its part.
void put_block(Block block) {
    [unroll] for (uint r = 0; r < 4; ++r) {
        const uint to = (block.part * SIDE + block.row_quad * 4 + r) * TILE_ROW + block.column_quad * 4;
        tile[to] = block.sums[r].x;
        tile[to + 1] = block.sums[r].y;
        tile[to + 2] = block.sums[r].z;
        tile[to + 3] = block.sums[r].w;
    }
}

// The sums of all parts, for four columns of a row of the tile.
int4 total_of_parts(uint row, uint4 columns) {
    int4 total = 0;
    [unroll] for (uint part = 0; part < PARTS; ++part) {
        const uint4 from = (part * SIDE + row) * TILE_ROW + columns;
        total += int4(float4(tile[from.x], tile[from.y], tile[from.z], tile[from.w]));
    }
    return total;
}

// Each thread stores four results: elements that are LANES apart, so that adjacent threads store adjacent words; or
// contiguous elements if a word contains several.
void store_four(Work work, uint thread) {
    const uint4 own = output_packing == 0 ? thread % LANES + FOUR * LANES : thread % LANES * 4 + FOUR;
    const int4 total = total_of_parts(thread / LANES, own);
    const uint row = work.first_row + thread / LANES;
    const uint4 columns = work.first_column + own;
    if (work.is_wanted && row < row_count) {
        put_sums(work.product, work.slice, row, columns, output_offsets(min(columns, column_count - 1)), total);
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id));
    Reader reader = reader_of(work, thread);
    Block block = empty_block(thread);
    const uint turns = turns_of(work);
    read_turn(reader);
    put_turn(reader, 0, true);
    GroupMemoryBarrierWithGroupSync();
    [loop] for (uint number = 0; number < turns; ++number) {
        read_turn(reader);
        multiply_turn(block, number % 2);
        put_turn(reader, (number + 1) % 2, number + 1 < turns);
        GroupMemoryBarrierWithGroupSync();
    }
    put_block(block);
    GroupMemoryBarrierWithGroupSync();
    store_four(work, thread);
}

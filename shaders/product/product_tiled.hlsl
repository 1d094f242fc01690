// Products in tiles, for shapes that are large enough.
//
// A thread group computes a tile of SIDE rows by SIDE columns; each thread has a part of it in registers. In each
// k-step, the group reads a segment of the depth into groupshared memory, which has two buffers: while one is
// multiplied, the other is being filled.
//
// SIDE             64 or 128: a thread computes 4 by 4 elements, or 8 by 8
// PACKING          of A and B, if it is fixed at compile time, which saves a tenth of the time; otherwise
//                  PRODUCT_ANY_PACKING
// WHOLE            1: the depth is a multiple of the k-step, and for a window each k-step is one filter element in
//                  several channels. 0: the last k-step may be incomplete
// NUMBERS, WINDOW  see product.hlsli

#include "shaders/product/product.hlsli"
#include "shaders/product/product_window.hlsli"

#if PACKING == PRODUCT_ANY_PACKING
#define A_PACKING a_packing
#define B_PACKING b_packing
#else
#define A_PACKING PACKING
#define B_PACKING PACKING
#endif

#define TURN PRODUCT_TURN_DEPTH(SIDE)
#define QUADS (SIDE / 64)  // groups of four elements of a thread in each direction, which are 64 apart
// Padded, so that threads that write a column use different memory banks.
#define TILE_ROW (SIDE + 4)
#define TILE_SIZE (TURN * TILE_ROW)

// The numbers that are multiplied. If one factor is relative to the middle of its type, this many products of 8-bit
// numbers can be summed exactly in FP32, which is faster than integer arithmetic. Then they are added to integer sums:
// in registers, or in memory if a thread has too many of them.
#if NUMBERS == PRODUCT_INTEGER
#define Term float
#define Term4 float4
#define TURNS_PER_FLUSH (PRODUCT_EXACT_DEPTH / TURN)
#define IS_CENTRED 1
#define IS_PARKED (SIDE == PRODUCT_PARKED_SIDE)
#else
#define Term Number
#define Term4 Number4
#define IS_CENTRED 0
#define IS_PARKED 0
#endif

// In groups of four rows or columns. For a window, a thread reads several depths, which are stored one by one.
groupshared Term4 a_tile[2 * TILE_SIZE / 4];
#if WINDOW
groupshared Term b_tile[2 * TILE_SIZE];
#define B_FOUR(first) Term4(b_tile[first], b_tile[(first) + 1], b_tile[(first) + 2], b_tile[(first) + 3])
#else
groupshared Term4 b_tile[2 * TILE_SIZE / 4];
#define B_FOUR(first) b_tile[(first) / 4]
#endif

#define PUT_FOUR(tile, first, share, terms) tile[((first) + share.depths.x * TILE_ROW + share.lines.x) / 4] = terms;
#define PUT_A(first, share, terms) PUT_FOUR(a_tile, first, share, terms)
#if WINDOW
#define PUT_B(first, share, terms)                                                  \
    {                                                                               \
        const uint4 tile_offsets = (first) + share.depths * TILE_ROW + share.lines; \
        b_tile[tile_offsets.x] = terms.x;                                           \
        b_tile[tile_offsets.y] = terms.y;                                           \
        b_tile[tile_offsets.z] = terms.z;                                           \
        b_tile[tile_offsets.w] = terms.w;                                           \
    }
#else
#define PUT_B(first, share, terms) PUT_FOUR(b_tile, first, share, terms)
#endif
#define A_IN_WORDS 0

#include "shaders/product/product_reading.hlsli"

// The number of threads that compute groups of four columns in a row of the tile. The same number of rows, four apart,
// is written at once.
#define LANES (SIDE / 4)
#define ROW_QUADS 16

// Results are copied through the tile as bits.
#if NUMBERS == PRODUCT_INTEGER
#define TERMS_OF(numbers) asfloat(numbers)
#define NUMBERS_OF(terms) asint(terms)
#else
#define TERMS_OF(numbers) numbers
#define NUMBERS_OF(terms) terms
#endif

// The results of a thread, in groups of four columns of a row.
#define FOURS (4 * QUADS * QUADS)

// What a thread computes: the rows and columns that start at 4 times these numbers, and those 64 further on.
struct Block {
    uint row_quad;
    uint column_quad;
    Term4 sums[FOURS];
#if IS_PARKED
    uint parked;  // where the first integer sum is stored
#elif NUMBERS == PRODUCT_INTEGER
    int4 totals[FOURS];
#endif
};

#if NUMBERS == PRODUCT_INTEGER && !IS_PARKED
#define RESULTS totals
#else
#define RESULTS sums
#endif

Block empty_block(uint group, uint thread) {
    const uint lane = thread % 32;
    const uint warp = thread / 32;
    Block block;
    block.column_quad = warp % 2 * 8 + lane % 8;
    block.row_quad = warp / 2 * 4 + lane / 8;
#if IS_PARKED
    block.parked = first_parked + group * (SIDE * SIDE) + thread;
#endif
    [unroll] for (uint i = 0; i < FOURS; ++i) {
        block.sums[i] = 0;
        block.RESULTS[i] = 0;
    }
    return block;
}

// Adds the product of four rows and four columns for one depth.
#define MULTIPLY(i, j, rows, columns)                          \
    block.sums[((i) * 4) * QUADS + j] += rows.x * columns;     \
    block.sums[((i) * 4 + 1) * QUADS + j] += rows.y * columns; \
    block.sums[((i) * 4 + 2) * QUADS + j] += rows.z * columns; \
    block.sums[((i) * 4 + 3) * QUADS + j] += rows.w * columns;

// Adds the products of a k-step, which is in this buffer of the tiles.
void multiply_turn(inout Block block, uint buffer) {
    // Groups of four, which compilers recognise by the multiplication.
    uint a_from = (buffer * (TILE_SIZE / 4) + block.row_quad) * 4;
    uint b_from = (buffer * (TILE_SIZE / 4) + block.column_quad) * 4;
    [unroll] for (uint k = 0; k < TURN; ++k) {
        // Single variables, because vkd3d 2.1 confuses the elements of an array here.
        const Term4 columns_0 = B_FOUR(b_from);
#if QUADS > 1
        const Term4 columns_1 = B_FOUR(b_from + 64);
#endif
        [unroll] for (uint i = 0; i < QUADS; ++i) {
            const Term4 rows = a_tile[(a_from + i * 64) / 4];
            MULTIPLY(i, 0, rows, columns_0)
#if QUADS > 1
            MULTIPLY(i, 1, rows, columns_1)
#endif
        }
        a_from += TILE_ROW;
        b_from += TILE_ROW;
    }
}

#if IS_PARKED
// The offsets of four integer sums of a thread.
uint4 parked_offsets(Block block, uint number) {
    return block.parked + (number * 4 + FOUR) * GROUP_SIZE;
}

int4 sums_with_parked(float4 sums, uint4 offsets, bool are_parked) {
    int4 result = int4(sums);
    [branch] if (are_parked) {
        result += int4(slice_sums[offsets.x], slice_sums[offsets.y], slice_sums[offsets.z], slice_sums[offsets.w]);
    }
    return result;
}

// Adds a thread's sums to those in memory, or begins them.
void park(inout Block block, bool are_parked) {
    [unroll] for (uint i = 0; i < FOURS; ++i) {
        const uint4 offsets = parked_offsets(block, i);
        const int4 sums = sums_with_parked(block.sums[i], offsets, are_parked);
        slice_sums[offsets.x] = sums.x;
        slice_sums[offsets.y] = sums.y;
        slice_sums[offsets.z] = sums.z;
        slice_sums[offsets.w] = sums.w;
        block.sums[i] = 0;
    }
}
#elif NUMBERS == PRODUCT_INTEGER
// Adds a thread's sums to the totals.
void flush(inout Block block) {
    [unroll] for (uint i = 0; i < FOURS; ++i) {
        block.totals[i] += int4(block.sums[i]);
        block.sums[i] = 0;
    }
}
#endif

// Four results of a row of a block, from the row that next_row has made the first.
Number4 result_of(Block block, uint row, uint j, uint turns) {
#if IS_PARKED
    return sums_with_parked(block.sums[j], parked_offsets(block, row * QUADS + j), turns > TURNS_PER_FLUSH);
#else
    return block.RESULTS[j];
#endif
}

// Shifts all results of a block, so that those of its next row become the first.
void next_row(inout Block block) {
    [unroll] for (uint i = 0; i + QUADS < FOURS; ++i) {
        block.RESULTS[i] = block.RESULTS[i + QUADS];
    }
}

#if WINDOW
// The rows of a thread are written one after another through groupshared memory, so that adjacent threads store
// adjacent words: four elements at some distance, or contiguous elements if a word contains several.
void store_block(Work work, Block block, uint turns, uint thread) {
    const uint4 own = output_packing == 0 ? thread % LANES + FOUR * LANES : thread % LANES * 4 + FOUR;
    const uint4 columns = work.first_column + own;
    const uint4 offsets = output_offsets(min(columns, column_count - 1));
    const Number4 own_columns = COLUMN_SUMS_AT(own);
    [loop] for (uint r = 0; r < 4 * QUADS; ++r) {
        [unroll] for (uint j = 0; j < QUADS; ++j) {
            const uint to = block.row_quad * TILE_ROW + block.column_quad * 4 + j * 64;
            const Term4 results = TERMS_OF(result_of(block, r, j, turns));
            b_tile[to] = results.x;
            b_tile[to + 1] = results.y;
            b_tile[to + 2] = results.z;
            b_tile[to + 3] = results.w;
        }
        GroupMemoryBarrierWithGroupSync();
        [loop] for (uint part = 0; part < ROW_QUADS * LANES / GROUP_SIZE; ++part) {
            const uint quad = part * (GROUP_SIZE / LANES) + thread / LANES;
            const uint row_of_tile = quad * 4 + r / 4 * 64 + r % 4;
            const uint row = work.first_row + row_of_tile;
            const uint4 from = quad * TILE_ROW + own;
            const Number4 results = NUMBERS_OF(Term4(b_tile[from.x], b_tile[from.y], b_tile[from.z], b_tile[from.w]));
            if (work.is_wanted && row < row_count) {
                put_sums(work.product, work.slice, row, columns, offsets, CORRECTED(results, row_of_tile, own_columns));
            }
        }
        GroupMemoryBarrierWithGroupSync();
        next_row(block);
    }
}
#else
void store_block(Work work, Block block, uint turns, uint thread) {
    uint4 offsets[QUADS];
    [unroll] for (uint q = 0; q < QUADS; ++q) {
        offsets[q] = output_offsets(min(work.first_column + block.column_quad * 4 + q * 64 + FOUR, column_count - 1));
    }
    [loop] for (uint r = 0; r < 4 * QUADS; ++r) {
        const uint row_of_tile = block.row_quad * 4 + r / 4 * 64 + r % 4;
        const uint row = work.first_row + row_of_tile;
        if (work.is_wanted && row < row_count) {
            [unroll] for (uint j = 0; j < QUADS; ++j) {
                const uint4 own = block.column_quad * 4 + j * 64 + FOUR;
                put_sums(work.product, work.slice, row, work.first_column + own, offsets[j],
                         CORRECTED(result_of(block, r, j, turns), row_of_tile, COLUMN_SUMS_AT(own)));
            }
        }
        next_row(block);
    }
}
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id));
    Reader reader = reader_of(work, thread);
    Block block = empty_block(linear_group(group_id), thread);
#if NUMBERS == PRODUCT_INTEGER
    begin_correction(work.product, work.first_row, thread);
#endif
    const uint turns = turns_of(work);
    read_turn(reader);
    put_turn(reader, 0, true);
    GroupMemoryBarrierWithGroupSync();
    [loop] for (uint number = 0; number < turns; ++number) {
        read_turn(reader);
        multiply_turn(block, number % 2);
#if IS_PARKED
        if ((number + 1) % TURNS_PER_FLUSH == 0 && number + 1 < turns && work.is_wanted) {
            park(block, number + 1 > TURNS_PER_FLUSH);
        }
#elif NUMBERS == PRODUCT_INTEGER
        if ((number + 1) % TURNS_PER_FLUSH == 0 || number + 1 == turns) {
            flush(block);
        }
#endif
        put_turn(reader, (number + 1) % 2, number + 1 < turns);
        GroupMemoryBarrierWithGroupSync();
    }
#if NUMBERS == PRODUCT_INTEGER
    add_to_columns(reader.b_share, reader.column_sums);
    GroupMemoryBarrierWithGroupSync();
#endif
    store_block(work, block, turns, thread);
}

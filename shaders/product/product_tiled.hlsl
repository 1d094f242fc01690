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

// Shifts all of a thread's results, so that those of its next row become the first.
#define NEXT_ROW                                                           \
    [unroll] for (uint n = 0; n + QUADS < 4 * QUADS * QUADS; ++n) {        \
        RESULTS[n] = RESULTS[n + QUADS];                                   \
    }

#if IS_PARKED
// Where a thread's integer sums are stored: the offset of the first, and the stride between groups of four.
#define PARKED_FOUR(first, number) (first + ((number) * 4 + FOUR) * GROUP_SIZE)

int4 parked_sums(uint4 offsets) {
    return int4(slice_sums[offsets.x], slice_sums[offsets.y], slice_sums[offsets.z], slice_sums[offsets.w]);
}

void park(uint4 offsets, int4 sums) {
    slice_sums[offsets.x] = sums.x;
    slice_sums[offsets.y] = sums.y;
    slice_sums[offsets.z] = sums.z;
    slice_sums[offsets.w] = sums.w;
}

int4 sums_with_parked(float4 sums, uint4 offsets, bool are_parked) {
    int4 result = int4(sums);
    [branch] if (are_parked) {
        result += parked_sums(offsets);
    }
    return result;
}
#define RESULT(row, j) sums_with_parked(sums[j], PARKED_FOUR(parked, (row) * QUADS + j), turns > TURNS_PER_FLUSH)
#else
#define RESULT(row, j) RESULTS[j]
#endif

// Adds the product of four rows and four columns for one depth.
#define MULTIPLY(i, j, rows, columns)                    \
    sums[((i) * 4) * QUADS + j] += rows.x * columns;     \
    sums[((i) * 4 + 1) * QUADS + j] += rows.y * columns; \
    sums[((i) * 4 + 2) * QUADS + j] += rows.z * columns; \
    sums[((i) * 4 + 3) * QUADS + j] += rows.w * columns;

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id));
    const Product product = work.product;
    const uint slice_end = work.slice_end;
    uint turn = work.slice_begin;

    // The thread's share of A, and its address.
    const Share a_share = share_of(thread, WINDOW ? 1 : a_along_depth);
    const uint4 a_rows = min(work.first_row + a_share.lines, row_count - 1);
    const Quantization a_scheme = a_quantization(product, a_rows);
#if WINDOW && WHOLE
    Depth depth = depth_of_turn(turn / TURN);
    uint4 a_offsets = product.a + a_rows * a_row + filter_strides.x + taps[depth.tap].y +
                      (depth.channel + a_share.depths) * filter_channel;
#elif WINDOW
    const uint4 a_starts = product.a + a_rows * a_row + filter_strides.x;
    // The same for all rows of the thread.
    Depth own_a_depth = depth_of(turn + a_share.depths.x);
#else
    uint4 a_offsets = product.a + a_rows * a_row + (turn + a_share.depths) * a_depth;
#endif

    // The thread's share of B. For a window it is four consecutive depths.
    Share b_share = share_of(thread, WINDOW ? 0 : b_along_depth);
#if WINDOW
    b_share = share_of_depths(thread % SIDE, thread / SIDE);
#endif
    const uint4 b_columns = min(work.first_column + b_share.lines, column_count - 1);
    const Quantization b_scheme = b_quantization(b_columns);
#if WINDOW
    const Origins origins = origins_of(coordinates_at(b_columns));
    const uint b_start = product.b + starts_of(origins).x;
    const uint2 mask = mask_of(origins);
#if WHOLE
    uint b_offset = b_start + taps[depth.tap].x + (depth.channel + b_share.depths.x) * input_channel;
#else
    Depth own_b_depth = depth_of(turn + b_share.depths.x);
#endif
#else
    uint4 b_offsets = product.b + b_columns * b_column + (turn + b_share.depths) * b_depth;
#endif

    // The thread computes the rows and columns that start at 4 times these numbers, and those 64 further on.
    const uint lane = thread % 32;
    const uint warp = thread / 32;
    const uint column_quad = warp % 2 * 8 + lane % 8;
    const uint row_quad = warp / 2 * 4 + lane / 8;

    Term4 sums[4 * QUADS * QUADS];
    [unroll] for (uint s = 0; s < 4 * QUADS * QUADS; ++s) {
        sums[s] = 0;
    }
#if NUMBERS == PRODUCT_INTEGER
    begin_correction(product, work.first_row, thread);
    ColumnSums column_sums = 0;
#endif
#if IS_PARKED
#define RESULTS sums
    const uint parked = first_parked + linear_group(group_id) * (SIDE * SIDE) + thread;
#elif NUMBERS == PRODUCT_INTEGER
#define RESULTS totals
    int4 totals[4 * QUADS * QUADS];
    [unroll] for (uint t = 0; t < 4 * QUADS * QUADS; ++t) {
        totals[t] = 0;
    }
#else
#define RESULTS sums
#endif

    const uint turns = (slice_end - turn + TURN - 1) / TURN;
    Reading a_reading;
    Reading b_reading;
    READ_TURN(true)
    PUT_TURN(0, true)
    GroupMemoryBarrierWithGroupSync();
    [loop] for (uint number = 0; number < turns; ++number) {
        turn += TURN;
        READ_TURN(number + 1 < turns)
        // Groups of four, which compilers recognise by the multiplication.
        uint a_from = (number % 2 * (TILE_SIZE / 4) + row_quad) * 4;
        uint b_from = (number % 2 * (TILE_SIZE / 4) + column_quad) * 4;
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
#if IS_PARKED
        if ((number + 1) % TURNS_PER_FLUSH == 0 && number + 1 < turns && work.is_wanted) {
            [unroll] for (uint f = 0; f < 4 * QUADS * QUADS; ++f) {
                const uint4 offsets = PARKED_FOUR(parked, f);
                park(offsets, sums_with_parked(sums[f], offsets, number + 1 > TURNS_PER_FLUSH));
                sums[f] = 0;
            }
        }
#elif NUMBERS == PRODUCT_INTEGER
        if ((number + 1) % TURNS_PER_FLUSH == 0 || number + 1 == turns) {
            [unroll] for (uint f = 0; f < 4 * QUADS * QUADS; ++f) {
                totals[f] += int4(sums[f]);
                sums[f] = 0;
            }
        }
#endif
        PUT_TURN((number + 1) % 2, number + 1 < turns)
        GroupMemoryBarrierWithGroupSync();
    }

#if NUMBERS == PRODUCT_INTEGER
    add_to_columns(b_share, column_sums);
    GroupMemoryBarrierWithGroupSync();
#endif

#if WINDOW
    // The rows of a thread are written one after another through groupshared memory, so that adjacent threads store
    // adjacent words: four elements at some distance, or contiguous elements if a word contains several.
    const uint4 own = output_packing == 0 ? thread % LANES + FOUR * LANES : thread % LANES * 4 + FOUR;
    const uint4 columns = work.first_column + own;
    const uint4 offsets = output_offsets(min(columns, column_count - 1));
    const Number4 own_columns = COLUMN_SUMS_AT(own);
    [loop] for (uint r = 0; r < 4 * QUADS; ++r) {
        [unroll] for (uint j = 0; j < QUADS; ++j) {
            const uint to = row_quad * TILE_ROW + column_quad * 4 + j * 64;
            const Term4 results = TERMS_OF(RESULT(r, j));
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
                put_sums(product, work.slice, row, columns, offsets, CORRECTED(results, row_of_tile, own_columns));
            }
        }
        GroupMemoryBarrierWithGroupSync();
        NEXT_ROW
    }
#else
    uint4 offsets[QUADS];
    [unroll] for (uint j = 0; j < QUADS; ++j) {
        offsets[j] = output_offsets(min(work.first_column + column_quad * 4 + j * 64 + FOUR, column_count - 1));
    }
    [loop] for (uint r = 0; r < 4 * QUADS; ++r) {
        const uint row_of_tile = row_quad * 4 + r / 4 * 64 + r % 4;
        const uint row = work.first_row + row_of_tile;
        if (work.is_wanted && row < row_count) {
            [unroll] for (uint j = 0; j < QUADS; ++j) {
                const uint4 own = column_quad * 4 + j * 64 + FOUR;
                put_sums(product, work.slice, row, work.first_column + own, offsets[j],
                         CORRECTED(RESULT(r, j), row_of_tile, COLUMN_SUMS_AT(own)));
            }
        }
        NEXT_ROW
    }
#endif
}

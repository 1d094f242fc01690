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

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id));
    const Product product = work.product;
    const uint slice_end = work.slice_end;
    uint turn = work.slice_begin;

    // The thread's share of A, and its address.
    Share a_share = share_of(thread, WINDOW ? 1 : a_along_depth);
    if (A_IN_WORDS) {
        a_share = share_of_depths(thread / (TURN / 4), thread % (TURN / 4));
    }
    const uint4 a_rows = min(work.first_row + a_share.lines, row_count - 1);
    const Quantization a_scheme = a_quantization(product, a_rows);
#if WINDOW
    Depth depth = depth_of_turn(turn / TURN);
    uint4 a_offsets = product.a + a_rows * a_row + filter_strides.x + taps[depth.tap].y +
                      (depth.channel + a_share.depths) * filter_channel;
#else
    uint4 a_offsets = product.a + a_rows * a_row + (turn + a_share.depths) * a_depth;
#endif

    // The thread's share of B. For a window it is four consecutive depths.
#if WINDOW
    const Share b_share = share_of_depths(thread % SIDE, thread / SIDE);
#else
    const Share b_share = share_of(thread, b_along_depth);
#endif
    const uint4 b_columns = min(work.first_column + b_share.lines, column_count - 1);
    const Quantization b_scheme = b_quantization(b_columns);
#if WINDOW
    const Origins origins = origins_of(coordinates_at(b_columns));
    const uint2 mask = mask_of(origins);
    uint b_offset = product.b + starts_of(origins).x + taps[depth.tap].x +
                    (depth.channel + b_share.depths.x) * input_channel;
#else
    uint4 b_offsets = product.b + b_columns * b_column + (turn + b_share.depths) * b_depth;
#endif

    // The thread computes the rows and columns that start at 4 times these numbers.
    const uint part = thread / PART_SIZE;
    const uint column_quad = thread % LANES;
    const uint row_quad = thread % PART_SIZE / LANES;
    float4 sums[4];
    [unroll] for (uint s = 0; s < 4; ++s) {
        sums[s] = 0;
    }

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
        const uint from = number % 2 * (TILE_SIZE / 4) + part * (PART_DEPTH * TILE_ROW / 4);
        uint a_from = (from + row_quad) * 4;
        uint b_from = (from + column_quad) * 4 + B_TILE;
        [unroll] for (uint k = 0; k < PART_DEPTH; ++k) {
            const float4 columns = FOUR_OF_TILE(b_from);
            const float4 rows = FOUR_OF_TILE(a_from);
            sums[0] += rows.x * columns;
            sums[1] += rows.y * columns;
            sums[2] += rows.z * columns;
            sums[3] += rows.w * columns;
            a_from += TILE_ROW;
            b_from += TILE_ROW;
        }
        PUT_TURN((number + 1) % 2, number + 1 < turns)
        GroupMemoryBarrierWithGroupSync();
    }

    // Each thread then has four results: elements that are LANES apart, so that adjacent threads store adjacent words;
    // or contiguous elements if a word contains several.
    [unroll] for (uint r = 0; r < 4; ++r) {
        const uint to = (part * SIDE + row_quad * 4 + r) * TILE_ROW + column_quad * 4;
        tile[to] = sums[r].x;
        tile[to + 1] = sums[r].y;
        tile[to + 2] = sums[r].z;
        tile[to + 3] = sums[r].w;
    }
    GroupMemoryBarrierWithGroupSync();
    const uint4 own = output_packing == 0 ? thread % LANES + FOUR * LANES : thread % LANES * 4 + FOUR;
    int4 total = 0;
    [unroll] for (uint p = 0; p < PARTS; ++p) {
        const uint4 from = (p * SIDE + thread / LANES) * TILE_ROW + own;
        total += int4(float4(tile[from.x], tile[from.y], tile[from.z], tile[from.w]));
    }
    const uint row = work.first_row + thread / LANES;
    const uint4 columns = work.first_column + own;
    if (work.is_wanted && row < row_count) {
        put_sums(product, work.slice, row, columns, output_offsets(min(columns, column_count - 1)), total);
    }
}

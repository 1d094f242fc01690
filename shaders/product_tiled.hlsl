// Products in tiles, for the shapes in which it pays.
//
// A group of threads makes a tile of SIDE rows by SIDE columns, each thread a part of it that it keeps in registers. In
// turns they read a
// stretch of the depth together into groupshared memory, which has room for two: while one is multiplied the next is on
// its
// way.
//
// SIDE             64 or 128: a thread makes 4 by 4 elements, or 8 by 8
// PACKING          of A and B, where it is known when the shader is compiled, which saves a tenth of the time; or
// PRODUCT_ANY_PACKING
// NUMBERS, WINDOW  see product.hlsli

#include "product.hlsli"
#include "product_window.hlsli"

#if PACKING == PRODUCT_ANY_PACKING
#define A_PACKING a_packing
#define B_PACKING b_packing
#else
#define A_PACKING PACKING
#define B_PACKING PACKING
#endif

#define GROUP_SIZE PRODUCT_GROUP_SIZE
#define TURN PRODUCT_TURN_DEPTH(SIDE)
#define QUADS (SIDE / 64)  // of a thread, in either direction: 64 apart
// Padded, as threads that write a column would otherwise all write to the same memory banks.
#define TILE_ROW (SIDE + 4)
#define TILE_SIZE (TURN * TILE_ROW)

groupshared Number a_tile[2 * TILE_SIZE];
groupshared Number b_tile[2 * TILE_SIZE];

#define FOUR_IN_TILE(tile, place) Number4(tile[place], tile[(place) + 1], tile[(place) + 2], tile[(place) + 3])

#define PUT_INTO_TILE(tile, first, share, numbers)                                  \
    {                                                                               \
        const uint4 tile_places = (first) + share.depths * TILE_ROW + share.lines;  \
        tile[tile_places.x] = numbers.x;                                            \
        tile[tile_places.y] = numbers.y;                                            \
        tile[tile_places.z] = numbers.z;                                            \
        tile[tile_places.w] = numbers.w;                                            \
    }

// What a thread reads of an operand in a turn: four elements.
struct Share {
    uint4 lines;   // rows or columns of the tile
    uint4 depths;  // within the turn
};

Share share_of(uint thread, uint along_depth) {
    Share result;
    result.lines = thread % SIDE;
    result.depths = thread / SIDE + FOUR * (GROUP_SIZE / SIDE);
    if (along_depth) {
        result.lines = thread / TURN + FOUR * (GROUP_SIZE / TURN);
        result.depths = thread % TURN;
    }
    return result;
}

// Reading is begun before a turn is multiplied, and what was read is looked at after that.
struct Reading {
    uint4 words;
    uint4 offsets;
    uint4 inside;  // 1: there is such an element
};

// Where there is none, the first one is read.
#define READ_WORDS(reading, buffer, packing)                                                                  \
    reading.offsets *= reading.inside;                                                                        \
    reading.words =                                                                                           \
        uint4(buffer[WORD_OF(packing, reading.offsets.x)], buffer[WORD_OF(packing, reading.offsets.y)],       \
              buffer[WORD_OF(packing, reading.offsets.z)], buffer[WORD_OF(packing, reading.offsets.w)]);

Number4 numbers_in(Reading reading, uint packing, uint sign, Quantization quantization) {
    const uint4 bits = reading.words >> SHIFT_OF(packing, reading.offsets) & MASK_OF(packing);
    const Number4 numbers = numbers_from(bits, packing, sign, quantization);
    return reading.inside != 0 ? numbers : 0;
}

#if WINDOW

// A place along the depth.
struct Depth {
    uint channel;
    uint tap;
};

Depth depth_of(uint number) {
    Depth result;
    result.channel = number / tap_count;
    result.tap = number % tap_count;
    return result;
}

Depth after_tap(Depth place) {
    ++place.tap;
    if (place.tap == tap_count) {
        place.tap = 0;
        ++place.channel;
    }
    return place;
}

Depth after_turn(Depth place) {
    place.tap += turn_taps;
    place.channel += turn_channels;
    if (place.tap >= tap_count) {
        place.tap -= tap_count;
        ++place.channel;
    }
    return place;
}

// A bit for each of a window's places along a dimension: whether it finds input.
uint mask_along(uint origin, uint count, uint step, uint stride, uint size) {
    uint result = 0;
    [loop] for (uint tap = 0; tap < count; ++tap) {
        if (find_along(origin, tap, step, stride, size).is_inside.x) {
            result |= 1u << tap;
        }
    }
    return result;
}

// A bit for each tap.
uint2 mask_of(Origins origins) {
    const uint ds = mask_along(origins.d.x, window.y, dilation.y, window_stride.y, input_size.y);
    const uint hs = mask_along(origins.h.x, window.z, dilation.z, window_stride.z, input_size.z);
    const uint ws = mask_along(origins.w.x, window.w, dilation.w, window_stride.w, input_size.w);
    uint2 result = 0;
    uint tap = 0;
    [loop] for (uint d = 0; d < window.y; ++d) {
        [loop] for (uint h = 0; h < window.z; ++h) {
            const uint row = origins.is_summed.x ? ds >> d & hs >> h & 1 : 0;
            [loop] for (uint w = 0; w < window.w; ++w) {
                const uint bit = (row & ws >> w) << (tap & 31);
                result |= tap < 32 ? uint2(bit, 0) : uint2(0, bit);
                ++tap;
            }
        }
    }
    return result;
}

uint bit_of(uint2 mask, uint tap) {
    return (tap < 32 ? mask.x : mask.y) >> (tap & 31) & 1;
}

#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    uint rest = linear_group(group_id);
    const bool is_wanted = rest < row_tiles * column_tiles * slice_count * product_count;
    const uint first_row = rest % row_tiles * SIDE;
    rest /= row_tiles;
    const uint first_column = rest % column_tiles * SIDE;
    rest /= column_tiles;
    const uint slice = rest % slice_count;
    const Product product = product_of(min(rest / slice_count, product_count - 1));
    const uint slice_end = min((slice + 1) * slice_depth, depth);
    uint turn = slice * slice_depth;

    // A's share, and where it is read.
    const Share a_share = share_of(thread, WINDOW ? 1 : a_along_depth);
    const uint4 a_rows = min(first_row + a_share.lines, row_count - 1);
    const Quantization a_scheme = a_quantization(product, a_rows);
#if WINDOW
    const uint4 a_starts = product.a + a_rows * a_row + filter_strides.x;
    Depth a_place = depth_of(turn + a_share.depths.x);
#else
    uint4 a_offsets = product.a + a_rows * a_row + (turn + a_share.depths) * a_depth;
#endif

    // B's. Of a window it is four taps, one after the other.
    Share b_share = share_of(thread, WINDOW ? 0 : b_along_depth);
#if WINDOW
    b_share.depths = thread / SIDE * 4 + FOUR;
#endif
    const uint4 b_columns = min(first_column + b_share.lines, column_count - 1);
    const Quantization b_scheme = b_quantization(b_columns);
#if WINDOW
    const Origins origins = origins_of(b_columns);
    const uint b_start = product.b + starts_of(origins).x;
    const uint2 mask = mask_of(origins);
    Depth b_place = depth_of(turn + b_share.depths.x);
#else
    uint4 b_offsets = product.b + b_columns * b_column + (turn + b_share.depths) * b_depth;
#endif

    // What the thread makes: rows and columns 4 * their numbers, and those 64 further on.
    const uint lane = thread % 32;
    const uint warp = thread / 32;
    const uint column_quad = warp % 2 * 8 + lane % 8;
    const uint row_quad = warp / 2 * 4 + lane / 8;

    Number4 sums[4 * QUADS * QUADS];
    [unroll] for (uint s = 0; s < 4 * QUADS * QUADS; ++s) {
        sums[s] = 0;
    }

    const uint turns = (slice_end - turn + TURN - 1) / TURN;
    [loop] for (uint number = 0; number <= turns; ++number) {
        // Beyond the last turn there is nothing inside.
        Reading a_reading;
        Reading b_reading;
        a_reading.inside = turn + a_share.depths < slice_end ? 1 : 0;
        b_reading.inside = turn + b_share.depths < slice_end ? 1 : 0;
#if WINDOW
        const Depth first = b_place;
        const Depth second = after_tap(first);
        const Depth third = after_tap(second);
        const Depth fourth = after_tap(third);
        a_reading.offsets = a_starts + a_place.channel * filter_channel + taps[a_place.tap].y;
        b_reading.offsets = b_start +
                            uint4(first.channel, second.channel, third.channel, fourth.channel) * input_channel +
                            uint4(taps[first.tap].x, taps[second.tap].x, taps[third.tap].x, taps[fourth.tap].x);
        b_reading.inside *=
            uint4(bit_of(mask, first.tap), bit_of(mask, second.tap), bit_of(mask, third.tap), bit_of(mask, fourth.tap));
        a_place = after_turn(a_place);
        b_place = after_turn(b_place);
#else
        a_reading.offsets = a_offsets;
        b_reading.offsets = b_offsets;
        a_offsets += TURN * a_depth;
        b_offsets += TURN * b_depth;
#endif
        READ_WORDS(a_reading, a, A_PACKING)
        READ_WORDS(b_reading, b, B_PACKING)
        if (number > 0) {
            const uint tile = (number - 1) % 2 * TILE_SIZE;
            uint a_from = tile + row_quad * 4;
            uint b_from = tile + column_quad * 4;
            [unroll] for (uint k = 0; k < TURN; ++k) {
                // vkd3d 2.1 mixes up an array that would keep the columns.
                [unroll] for (uint j = 0; j < QUADS; ++j) {
                    const Number4 columns = FOUR_IN_TILE(b_tile, b_from + j * 64);
                    [unroll] for (uint i = 0; i < QUADS; ++i) {
                        const Number4 rows = FOUR_IN_TILE(a_tile, a_from + i * 64);
                        sums[(i * 4) * QUADS + j] += rows.x * columns;
                        sums[(i * 4 + 1) * QUADS + j] += rows.y * columns;
                        sums[(i * 4 + 2) * QUADS + j] += rows.z * columns;
                        sums[(i * 4 + 3) * QUADS + j] += rows.w * columns;
                    }
                }
                a_from += TILE_ROW;
                b_from += TILE_ROW;
            }
        }
        const Number4 a_numbers = numbers_in(a_reading, A_PACKING, a_sign, a_scheme);
        const Number4 b_numbers = numbers_in(b_reading, B_PACKING, b_sign, b_scheme);
        PUT_INTO_TILE(a_tile, number % 2 * TILE_SIZE, a_share, a_numbers)
        PUT_INTO_TILE(b_tile, number % 2 * TILE_SIZE, b_share, b_numbers)
        turn += TURN;
        GroupMemoryBarrierWithGroupSync();
    }

    uint4 places[QUADS];
    [unroll] for (uint j = 0; j < QUADS; ++j) {
        places[j] = places_of(min(first_column + column_quad * 4 + j * 64 + FOUR, column_count - 1));
    }
    [loop] for (uint r = 0; r < 4 * QUADS; ++r) {
        const uint row = first_row + row_quad * 4 + r / 4 * 64 + r % 4;
        if (is_wanted && row < row_count) {
            [unroll] for (uint j = 0; j < QUADS; ++j) {
                put_sums(product, slice, row, first_column + column_quad * 4 + j * 64 + FOUR, places[j], sums[j]);
            }
        }
        // On to the next row.
        [unroll] for (uint i = 0; i + QUADS < 4 * QUADS * QUADS; ++i) {
            sums[i] = sums[i + QUADS];
        }
    }
}

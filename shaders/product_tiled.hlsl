// Products in tiles, for the shapes in which it pays.
//
// A group of threads makes a tile of SIDE rows by SIDE columns, each thread a part of it that it keeps in registers. In turns they read a
// stretch of the depth together into groupshared memory, which has room for two: while one is multiplied the next is on its
// way.
//
// SIDE             64 or 128: a thread makes 4 by 4 elements, or 8 by 8
// NUMBERS, WINDOW  see product.hlsli

#include "product.hlsli"
#include "product_window.hlsli"

#define GROUP_SIZE PRODUCT_GROUP_SIZE
#define TURN PRODUCT_TURN_DEPTH(SIDE)
#define QUADS (SIDE / 64)  // of a thread, in either direction: 64 apart
// Padded, as threads that write a column would otherwise all write to the same memory banks.
#define TILE_ROW (SIDE + 4)
#define TILE_SIZE (TURN * TILE_ROW)

groupshared Number a_tile[2 * TILE_SIZE];
groupshared Number b_tile[2 * TILE_SIZE];

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
#define WORDS_AT(buffer, packing, offsets)                                                           \
    uint4(buffer[WORD_OF(packing, offsets.x)], buffer[WORD_OF(packing, offsets.y)],                   \
          buffer[WORD_OF(packing, offsets.z)], buffer[WORD_OF(packing, offsets.w)])
#define BITS_IN(words, packing, offsets) ((words) >> SHIFT_OF(packing, offsets) & MASK_OF(packing))

#define PUT_INTO_TILE(tile, first, share, numbers)                              \
    {                                                                           \
        const uint4 places = (first) + share.depths * TILE_ROW + share.lines;   \
        tile[places.x] = numbers.x;                                             \
        tile[places.y] = numbers.y;                                             \
        tile[places.z] = numbers.z;                                             \
        tile[places.w] = numbers.w;                                             \
    }

#define FOUR_IN_TILE(tile, place) Number4(tile[place], tile[(place) + 1], tile[(place) + 2], tile[(place) + 3])

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

// Of a window: a bit for each tap that finds input. Where there are too many taps for that, three of those of each dimension.
struct Mask {
    uint all;
    uint d;
    uint h;
    uint w;
};

uint mask_along(uint origin, uint count, uint step, uint stride, uint size) {
    uint result = 0;
    [loop] for (uint tap = 0; tap < count; ++tap) {
        if (find_along(origin, tap, step, stride, size).is_inside.x) {
            result |= 1u << tap;
        }
    }
    return result;
}

bool is_inside(Mask mask, uint tap, uint places) {
    bool result = (mask.all >> tap & 1) != 0;
    if (tap_count > 32) {
        result = ((mask.d >> (places & 31)) & (mask.h >> (places >> 8 & 31)) & (mask.w >> (places >> 16 & 31)) & 1) != 0;
    }
    return result;
}

Mask mask_of(Origins origins) {
    Mask result;
    result.d = !origins.is_summed.x ? 0 : mask_along(origins.d.x, window.y, dilation.y, window_stride.y, input_size.y);
    result.h = mask_along(origins.h.x, window.z, dilation.z, window_stride.z, input_size.z);
    result.w = mask_along(origins.w.x, window.w, dilation.w, window_stride.w, input_size.w);
    result.all = 0;
    uint bit = 1;
    [loop] for (uint d = 0; d < window.y; ++d) {
        [loop] for (uint h = 0; h < window.z; ++h) {
            const bool row = (result.d >> d & result.h >> h & 1) != 0;
            [loop] for (uint w = 0; w < window.w; ++w) {
                result.all |= row && (result.w >> w & 1) != 0 ? bit : 0;
                bit <<= 1;
            }
        }
    }
    return result;
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
    const Mask mask = mask_of(origins);
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
        uint4 a_words = 0;
        uint4 b_words = 0;
        uint4 a_at = 0;
        uint4 b_at = 0;
        const bool4 a_inside = turn + a_share.depths < slice_end;
        bool4 b_inside = turn + b_share.depths < slice_end;
        if (number < turns) {
#if WINDOW
            a_at = a_starts + a_place.channel * filter_channel + taps[a_place.tap].y;
            Depth place = b_place;
            b_at.x = place.channel * input_channel + taps[place.tap].x;
            b_inside.x = b_inside.x && is_inside(mask, place.tap, taps[place.tap].z);
            place = after_tap(place);
            b_at.y = place.channel * input_channel + taps[place.tap].x;
            b_inside.y = b_inside.y && is_inside(mask, place.tap, taps[place.tap].z);
            place = after_tap(place);
            b_at.z = place.channel * input_channel + taps[place.tap].x;
            b_inside.z = b_inside.z && is_inside(mask, place.tap, taps[place.tap].z);
            place = after_tap(place);
            b_at.w = place.channel * input_channel + taps[place.tap].x;
            b_inside.w = b_inside.w && is_inside(mask, place.tap, taps[place.tap].z);
            b_at += b_start;
            a_place = after_turn(a_place);
            b_place = after_turn(b_place);
#else
            a_at = a_offsets;
            b_at = b_offsets;
            a_offsets += TURN * a_depth;
            b_offsets += TURN * b_depth;
#endif
            a_at = a_inside ? a_at : 0;
            b_at = b_inside ? b_at : 0;
            a_words = WORDS_AT(a, a_packing, a_at);
            b_words = WORDS_AT(b, b_packing, b_at);
        }
        if (number > 0) {
            const uint tile = (number - 1) % 2 * TILE_SIZE;
            uint a_from = tile + row_quad * 4;
            uint b_from = tile + column_quad * 4;
            [loop] for (uint k = 0; k < TURN; ++k) {
                [unroll] for (uint i = 0; i < QUADS; ++i) {
                    const Number4 rows = FOUR_IN_TILE(a_tile, a_from + i * 64);
                    [unroll] for (uint j = 0; j < QUADS; ++j) {
                        const Number4 columns = FOUR_IN_TILE(b_tile, b_from + j * 64);
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
        if (number < turns) {
            Number4 a_numbers = numbers_from(BITS_IN(a_words, a_packing, a_at), a_packing, a_sign, a_scheme);
            Number4 b_numbers = numbers_from(BITS_IN(b_words, b_packing, b_at), b_packing, b_sign, b_scheme);
            a_numbers = a_inside ? a_numbers : 0;
            b_numbers = b_inside ? b_numbers : 0;
            PUT_INTO_TILE(a_tile, number % 2 * TILE_SIZE, a_share, a_numbers)
            PUT_INTO_TILE(b_tile, number % 2 * TILE_SIZE, b_share, b_numbers)
            turn += TURN;
        }
        GroupMemoryBarrierWithGroupSync();
    }

    uint4 columns[QUADS];
    uint4 places[QUADS];
    [unroll] for (uint j = 0; j < QUADS; ++j) {
        columns[j] = first_column + column_quad * 4 + j * 64 + FOUR;
        places[j] = places_of(min(columns[j], column_count - 1));
    }
    [loop] for (uint r = 0; r < 4 * QUADS; ++r) {
        const uint row = first_row + row_quad * 4 + r / 4 * 64 + r % 4;
        if (is_wanted && row < row_count) {
            [unroll] for (uint j = 0; j < QUADS; ++j) {
                put_sums(product, slice, row, columns[j], places[j], sums[j]);
            }
        }
        // On to the next row.
        [unroll] for (uint i = 0; i + QUADS < 4 * QUADS * QUADS; ++i) {
            sums[i] = sums[i + QUADS];
        }
    }
}

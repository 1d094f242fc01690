// How the tiled product shaders, product_tiled.hlsl and product_parted.hlsl, read their operands. The macros are
// theirs.

// The work of a thread group: a tile of a product, for a slice of the depth.
struct Work {
    bool is_wanted;  // false for surplus groups
    uint first_row;
    uint first_column;
    Product product;
    uint slice;
    uint slice_begin;
    uint slice_end;
};

Work work_of(uint group) {
    Work work;
    uint rest = group;
    work.is_wanted = rest < row_tiles * column_tiles * slice_count * product_count;
    work.first_row = rest % row_tiles * SIDE;
    rest /= row_tiles;
    work.first_column = rest % column_tiles * SIDE;
    rest /= column_tiles;
    work.slice = rest % slice_count;
    work.product = product_of(min(rest / slice_count, product_count - 1));
    work.slice_begin = work.slice * slice_depth;
    work.slice_end = min(work.slice_begin + slice_depth, depth);
    return work;
}

// What a thread reads of an operand in a k-step: four contiguous elements. If they belong to one row or column, they
// have consecutive depths.
struct Share {
    uint4 lines;   // rows or columns of the tile
    uint4 depths;  // within the k-step
};

Share share_of(uint thread, uint along_depth) {
    Share result;
    result.lines = thread % (SIDE / 4) * 4 + FOUR;
    result.depths = thread / (SIDE / 4);
    if (along_depth) {
        result.lines = thread / TURN * 4 + FOUR;
        result.depths = thread % TURN;
    }
    return result;
}

// Four consecutive depths of a row or column; each k-step has this many of them.
Share share_of_depths(uint which, uint number) {
    Share result;
    result.lines = which;
    result.depths = number * 4 + FOUR;
    return result;
}

// A read that starts before a k-step is multiplied, and whose result is used after it.
struct Reading {
    uint4 words;
    uint4 offsets;
    uint4 inside;  // 1: the element exists. 0: the first element is read instead
};

#define READ_WORDS(reading, buffer, packing, in_words)                                                            \
    [branch] if (in_words) {                                                                                      \
        reading.words = buffer[WORD_OF(packing, reading.offsets.x)];                                              \
    } else {                                                                                                      \
        reading.words =                                                                                           \
            uint4(buffer[WORD_OF(packing, reading.offsets.x)], buffer[WORD_OF(packing, reading.offsets.y)],       \
                  buffer[WORD_OF(packing, reading.offsets.z)], buffer[WORD_OF(packing, reading.offsets.w)]);      \
    }
#if NUMBERS == PRODUCT_INTEGER && !WINDOW
#define B_IN_WORDS b_in_words
#else
#define B_IN_WORDS 0
#endif

#if NUMBERS == PRODUCT_INTEGER
// Converts by bits: 2^23 plus a smaller number has that number in its low bits. This is faster than a conversion.
float4 less(uint4 bits, uint sign, float4 offsets) {
    return asfloat(bits ^ (0x4b000000 | sign)) - (0x800000 + offsets);
}
#endif

uint4 bits_in(Reading reading, uint packing) {
    return reading.words >> SHIFT_OF(packing, reading.offsets) & MASK_OF(packing);
}

Term4 a_terms_in(Reading reading, Quantization quantization) {
    const uint4 bits = bits_in(reading, A_PACKING);
#if IS_CENTRED
    // Where B's terms are 0, the value does not matter.
    return less(bits, a_sign, PRODUCT_CENTRE);
#else
#if NUMBERS == PRODUCT_INTEGER
    const Term4 terms = less(bits, a_sign, quantization.zeros);
#else
    const Term4 terms = numbers_from(bits, A_PACKING, a_sign, quantization);
#endif
    return WHOLE || reading.inside != 0 ? terms : 0;
#endif
}

Term4 b_terms_in(Reading reading, Quantization quantization) {
    const uint4 bits = bits_in(reading, B_PACKING);
#if NUMBERS == PRODUCT_INTEGER
    const Term4 terms = less(bits, b_sign, quantization.zeros);
#else
    const Term4 terms = numbers_from(bits, B_PACKING, b_sign, quantization);
#endif
    return (WHOLE && !WINDOW) || reading.inside != 0 ? terms : 0;
}

#if WINDOW

// A position along the depth.
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

Depth after_tap(Depth depth) {
    ++depth.tap;
    if (depth.tap == tap_count) {
        depth.tap = 0;
        ++depth.channel;
    }
    return depth;
}

Depth after_turn(Depth depth) {
    depth.tap += turn_taps;
    depth.channel += turn_channels;
    if (depth.tap >= tap_count) {
        depth.tap -= tap_count;
        ++depth.channel;
    }
    return depth;
}

// With whole k-steps, each one is a single filter element in as many channels as it is deep, so that all addresses are
// computed together. The other filter elements for these channels follow.
Depth depth_of_turn(uint number) {
    Depth result;
    result.channel = number / tap_count * TURN;
    result.tap = number % tap_count;
    return result;
}

// For each window element along a dimension, a bit that is set if it covers input.
uint mask_along(uint origin, uint count, uint step, uint stride, uint size) {
    uint result = 0;
    [loop] for (uint tap = 0; tap < count; ++tap) {
        if (find_along(origin, tap, step, stride, size).is_inside.x) {
            result |= 1u << tap;
        }
    }
    return result;
}

// The same with a bit for each filter element.
uint2 mask_of(Origins origins) {
    const uint ds = mask_along(origins.d.x, window.y, dilation.y, window_stride.y, input_size.y);
    const uint hs = mask_along(origins.h.x, window.z, dilation.z, window_stride.z, input_size.z);
    const uint ws = mask_along(origins.w.x, window.w, dilation.w, window_stride.w, input_size.w);
    uint2 result = 0;
    uint tap = 0;
    [loop] for (uint d = 0; d < window.y; ++d) {
        [loop] for (uint h = 0; h < window.z; ++h) {
            const uint row = origins.is_summed.x && (ds >> d & hs >> h & 1) != 0 ? ws : 0;
            // The bits of a row may be in both words.
            const uint low = row << (tap & 31);
            const uint high = (tap & 31) != 0 ? row >> (32 - (tap & 31)) : 0;
            result |= tap < 32 ? uint2(low, high) : uint2(0, low);
            tap += window.w;
        }
    }
    return result;
}

uint bit_of(uint2 mask, uint tap) {
    return (tap < 32 ? mask.x : mask.y) >> (tap & 31) & 1;
}

#endif

// Starts to read the next k-step if there is one, and advances. After the last k-step the values do not matter, but the
// addresses must be valid.
#if WHOLE
#define INSIDE(share, is_there) (is_there ? 1 : 0)
#else
#define INSIDE(share, is_there) (turn + share.depths < slice_end ? 1 : 0)
#endif
#if WINDOW && WHOLE
// After the end, the last k-step is read again.
#define READ_TURN(is_there)                                                              \
    {                                                                                    \
        a_reading.inside = 1;                                                            \
        a_reading.offsets = a_offsets;                                                   \
        b_reading.inside = bit_of(mask, depth.tap);                                      \
        b_reading.offsets = b_reading.inside != 0 ? b_offset + FOUR * input_channel : 0; \
        if (turn + 2 * TURN <= slice_end) {                                              \
            a_offsets += taps[depth.tap].w;                                              \
            b_offset += taps[depth.tap].z;                                               \
            depth.tap = depth.tap + 1 < tap_count ? depth.tap + 1 : 0;                   \
        }                                                                                \
        READ_WORDS(a_reading, a, A_PACKING, A_IN_WORDS)                                  \
        READ_WORDS(b_reading, b, B_PACKING, B_IN_WORDS)                                  \
    }
#elif WINDOW
#define READ_TURN(is_there)                                                                                      \
    {                                                                                                            \
        const Depth first = own_b_depth;                                                                         \
        const Depth second = after_tap(first);                                                                   \
        const Depth third = after_tap(second);                                                                   \
        const Depth fourth = after_tap(third);                                                                   \
        const uint4 channels = uint4(first.channel, second.channel, third.channel, fourth.channel);              \
        a_reading.inside = INSIDE(a_share, is_there);                                                            \
        a_reading.offsets = a_starts + turn + a_share.depths;                                                    \
        [branch] if (!is_filter_in_order) {                                                                      \
            a_reading.offsets = a_starts + (own_a_depth.channel * filter_channel + taps[own_a_depth.tap].y);     \
        }                                                                                                        \
        b_reading.inside = INSIDE(b_share, is_there);                                                            \
        b_reading.inside *= uint4(bit_of(mask, first.tap), bit_of(mask, second.tap), bit_of(mask, third.tap),    \
                                  bit_of(mask, fourth.tap));                                                     \
        b_reading.offsets = b_start + channels * input_channel +                                                 \
                            uint4(taps[first.tap].x, taps[second.tap].x, taps[third.tap].x, taps[fourth.tap].x); \
        a_reading.offsets *= a_reading.inside;                                                                   \
        b_reading.offsets *= b_reading.inside;                                                                   \
        own_a_depth = after_turn(own_a_depth);                                                                   \
        own_b_depth = after_turn(own_b_depth);                                                                   \
        READ_WORDS(a_reading, a, A_PACKING, A_IN_WORDS)                                                          \
        READ_WORDS(b_reading, b, B_PACKING, B_IN_WORDS)                                                          \
    }
#else
// After the end, the last whole k-step is read again.
#define READ_TURN(is_there)                                                     \
    {                                                                           \
        a_reading.inside = WHOLE ? 1 : INSIDE(a_share, is_there);               \
        b_reading.inside = WHOLE ? 1 : INSIDE(b_share, is_there);               \
        a_reading.offsets = WHOLE ? a_offsets : a_offsets * a_reading.inside;   \
        b_reading.offsets = WHOLE ? b_offsets : b_offsets * b_reading.inside;   \
        const uint distance = WHOLE && turn + 2 * TURN > slice_end ? 0 : TURN;  \
        a_offsets += distance * a_depth;                                        \
        b_offsets += distance * b_depth;                                        \
        READ_WORDS(a_reading, a, A_PACKING, A_IN_WORDS)                         \
        READ_WORDS(b_reading, b, B_PACKING, B_IN_WORDS)                         \
    }
#endif

// Stores what was read in one of the two buffers of the tiles. Adds up B's terms of each column, unless the last k-step
// was read again.
#define PUT_TURN(half, counts)                                    \
    {                                                             \
        const Term4 a_terms = a_terms_in(a_reading, a_scheme);    \
        const Term4 b_terms = b_terms_in(b_reading, b_scheme);    \
        COUNT_COLUMNS(b_terms, counts)                            \
        PUT_A((half) * TILE_SIZE, a_share, a_terms)               \
        PUT_B((half) * TILE_SIZE, b_share, b_terms)               \
    }

// Sums of 8-bit integers are exact in FP32 up to 2^24. If they are centred, the terms of A are relative to the middle
// of their type, from -128 to 127, whatever their zero points, so that twice as many products fit. The correction is
// added at the end: the difference between A's zero point and the middle, times the sum of B's terms in a column.
#if IS_CENTRED
groupshared int a_zeros_of_rows[SIDE];
groupshared int sums_of_columns[SIDE];
#if WINDOW
#define ColumnSums float
#define COUNT_COLUMNS(terms, counts) column_sums += counts ? terms.x + terms.y + (terms.z + terms.w) : 0;
#else
#define ColumnSums float4
#define COUNT_COLUMNS(terms, counts) column_sums += counts ? terms : 0;
#endif

int a_zero_of(Product product, uint row) {
    uint zero = a_sign;
    if (has_a_zero) {
        const uint offset = (product.number * parameter_rows + row) * a_zero_step;
        zero = LOAD_ELEMENT(a_zeros, a_packing, offset) ^ a_sign;
    }
    return zero;
}

void begin_correction(Product product, uint first_row, uint thread) {
    if (thread < SIDE) {
        sums_of_columns[thread] = 0;
        a_zeros_of_rows[thread] = a_zero_of(product, min(first_row + thread, row_count - 1)) - PRODUCT_CENTRE;
    }
}

// Adds the sums of a thread's share of B, at the end.
void add_to_columns(Share share, ColumnSums sums) {
#if WINDOW
    InterlockedAdd(sums_of_columns[share.lines.x], int(sums));
#else
    InterlockedAdd(sums_of_columns[share.lines.x], int(sums.x));
    InterlockedAdd(sums_of_columns[share.lines.y], int(sums.y));
    InterlockedAdd(sums_of_columns[share.lines.z], int(sums.z));
    InterlockedAdd(sums_of_columns[share.lines.w], int(sums.w));
#endif
}

// The sums of four columns of the tile.
int4 column_sums_at(uint4 columns) {
    return int4(sums_of_columns[columns.x], sums_of_columns[columns.y], sums_of_columns[columns.z],
                sums_of_columns[columns.w]);
}
#define COLUMN_SUMS_AT(columns) column_sums_at(columns)

#define CORRECTED(sums, row_of_tile, columns) (sums - a_zeros_of_rows[row_of_tile] * columns)
#else
#define COUNT_COLUMNS(terms, counts)
#define COLUMN_SUMS_AT(columns) 0
#define CORRECTED(sums, row_of_tile, columns) sums
#endif

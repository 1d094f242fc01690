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

// Sums of 8-bit integers are exact in FP32 up to 2^24. If they are centred, the terms of A are relative to the middle
// of their type, from -128 to 127, whatever their zero points, so that twice as many products fit. The correction is
// added at the end: the difference between A's zero point and the middle, times the sum of B's terms in a column.
#if IS_CENTRED
groupshared int a_zeros_of_rows[SIDE];
groupshared int sums_of_columns[SIDE];
#if WINDOW
#define ColumnSums float
#define COUNT_COLUMNS(sums, terms, counts) sums += counts ? terms.x + terms.y + (terms.z + terms.w) : 0;
#else
#define ColumnSums float4
#define COUNT_COLUMNS(sums, terms, counts) sums += counts ? terms : 0;
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
#define COUNT_COLUMNS(sums, terms, counts)
#define COLUMN_SUMS_AT(columns) 0
#define CORRECTED(sums, row_of_tile, columns) sums
#endif

// How a thread reads both operands, one k-step after another.
struct Reader {
    uint turn;  // the depth at which the next k-step begins
    uint slice_end;
    Share a_share;
    Share b_share;
    Quantization a_scheme;
    Quantization b_scheme;
#if WINDOW && WHOLE
    Depth depth;
    uint4 a_offsets;
    uint b_offset;
    uint2 mask;
#elif WINDOW
    uint4 a_starts;
    Depth a_position;  // the same for all rows of the thread
    uint b_start;
    Depth b_position;
    uint2 mask;
#else
    uint4 a_offsets;
    uint4 b_offsets;
#endif
#if IS_CENTRED
    ColumnSums column_sums;
#endif
    Reading a_reading;
    Reading b_reading;
};

// Finds where a thread's shares of the first k-step are, in these rows of A and columns of B.
#if WINDOW
void find_shares(inout Reader reader, Product product, uint4 rows, uint4 columns) {
    const Origins origins = origins_of(coordinates_at(columns));
    const uint4 a_starts = product.a + rows * a_row + filter_strides.x;
    const uint b_start = product.b + starts_of(origins).x;
    reader.mask = mask_of(origins);
#if WHOLE
    const Depth depth = depth_of_turn(reader.turn / TURN);
    reader.depth = depth;
    reader.a_offsets = a_starts + taps[depth.tap].y + (depth.channel + reader.a_share.depths) * filter_channel;
    reader.b_offset = b_start + taps[depth.tap].x + (depth.channel + reader.b_share.depths.x) * input_channel;
#else
    reader.a_starts = a_starts;
    reader.a_position = depth_of(reader.turn + reader.a_share.depths.x);
    reader.b_start = b_start;
    reader.b_position = depth_of(reader.turn + reader.b_share.depths.x);
#endif
}
#else
void find_shares(inout Reader reader, Product product, uint4 rows, uint4 columns) {
    reader.a_offsets = product.a + rows * a_row + (reader.turn + reader.a_share.depths) * a_depth;
    reader.b_offsets = product.b + columns * b_column + (reader.turn + reader.b_share.depths) * b_depth;
}
#endif

Reader reader_of(Work work, uint thread) {
    Reader reader = (Reader)0;
    reader.turn = work.slice_begin;
    reader.slice_end = work.slice_end;
    reader.a_share = share_of(thread, WINDOW ? 1 : a_along_depth);
    if (A_IN_WORDS) {
        reader.a_share = share_of_depths(thread / (TURN / 4), thread % (TURN / 4));
    }
#if WINDOW
    reader.b_share = share_of_depths(thread % SIDE, thread / SIDE);
#else
    reader.b_share = share_of(thread, b_along_depth);
#endif
    const uint4 rows = min(work.first_row + reader.a_share.lines, row_count - 1);
    const uint4 columns = min(work.first_column + reader.b_share.lines, column_count - 1);
    reader.a_scheme = a_quantization(work.product, rows);
    reader.b_scheme = b_quantization(columns);
    find_shares(reader, work.product, rows, columns);
    return reader;
}

// The number of k-steps.
uint turns_of(Work work) {
    return (work.slice_end - work.slice_begin + TURN - 1) / TURN;
}

#if !WHOLE
// 1 for the elements of a share that the next k-step has.
uint4 inside(Reader reader, Share share) {
    return reader.turn + share.depths < reader.slice_end ? 1 : 0;
}
#endif

// Finds the offsets of the next k-step, and advances.
#if WINDOW && WHOLE
// After the end, the last k-step is read again.
void find_turn(inout Reader reader) {
    const uint tap = reader.depth.tap;
    reader.a_reading.inside = 1;
    reader.a_reading.offsets = reader.a_offsets;
    reader.b_reading.inside = bit_of(reader.mask, tap);
    reader.b_reading.offsets = reader.b_reading.inside != 0 ? reader.b_offset + FOUR * input_channel : 0;
    if (reader.turn + 2 * TURN <= reader.slice_end) {
        reader.a_offsets += taps[tap].w;
        reader.b_offset += taps[tap].z;
        reader.depth.tap = tap + 1 < tap_count ? tap + 1 : 0;
    }
}
#elif WINDOW
void find_turn(inout Reader reader) {
    const Depth first = reader.b_position;
    const Depth second = after_tap(first);
    const Depth third = after_tap(second);
    const Depth fourth = after_tap(third);
    const uint4 channels = uint4(first.channel, second.channel, third.channel, fourth.channel);
    reader.a_reading.inside = inside(reader, reader.a_share);
    reader.a_reading.offsets = reader.a_starts + reader.turn + reader.a_share.depths;
    [branch] if (!is_filter_in_order) {
        const Depth depth = reader.a_position;
        reader.a_reading.offsets = reader.a_starts + (depth.channel * filter_channel + taps[depth.tap].y);
    }
    reader.b_reading.inside = inside(reader, reader.b_share);
    reader.b_reading.inside *= uint4(bit_of(reader.mask, first.tap), bit_of(reader.mask, second.tap),
                                     bit_of(reader.mask, third.tap), bit_of(reader.mask, fourth.tap));
    reader.b_reading.offsets = reader.b_start + channels * input_channel +
                               uint4(taps[first.tap].x, taps[second.tap].x, taps[third.tap].x, taps[fourth.tap].x);
    reader.a_reading.offsets *= reader.a_reading.inside;
    reader.b_reading.offsets *= reader.b_reading.inside;
    reader.a_position = after_turn(reader.a_position);
    reader.b_position = after_turn(reader.b_position);
}
#else
void find_turn(inout Reader reader) {
#if WHOLE
    // After the end, the last k-step is read again.
    const uint distance = reader.turn + 2 * TURN > reader.slice_end ? 0 : TURN;
    reader.a_reading.inside = 1;
    reader.b_reading.inside = 1;
    reader.a_reading.offsets = reader.a_offsets;
    reader.b_reading.offsets = reader.b_offsets;
#else
    const uint distance = TURN;
    reader.a_reading.inside = inside(reader, reader.a_share);
    reader.b_reading.inside = inside(reader, reader.b_share);
    reader.a_reading.offsets = reader.a_offsets * reader.a_reading.inside;
    reader.b_reading.offsets = reader.b_offsets * reader.b_reading.inside;
#endif
    reader.a_offsets += distance * a_depth;
    reader.b_offsets += distance * b_depth;
}
#endif

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

// Starts to read the next k-step, and advances. After the last k-step the values do not matter, but the addresses must
// be valid.
void read_turn(inout Reader reader) {
    find_turn(reader);
    READ_WORDS(reader.a_reading, a, A_PACKING, A_IN_WORDS)
    READ_WORDS(reader.b_reading, b, B_PACKING, B_IN_WORDS)
    reader.turn += TURN;
}

// Stores what was read in one of the two buffers of the tiles. Adds up B's terms of each column, unless the last k-step
// was read again.
void put_turn(inout Reader reader, uint buffer, bool counts) {
    const Term4 a_terms = a_terms_in(reader.a_reading, reader.a_scheme);
    const Term4 b_terms = b_terms_in(reader.b_reading, reader.b_scheme);
    COUNT_COLUMNS(reader.column_sums, b_terms, counts)
    PUT_A(buffer * TILE_SIZE, reader.a_share, a_terms)
    PUT_B(buffer * TILE_SIZE, reader.b_share, b_terms)
}

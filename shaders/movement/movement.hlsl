// Operators whose elements come from addresses that are known in advance, or are constants: copies of units.
//
// WIDTH    bits of the units: see units.hlsli. The binding chooses units as large as the strides allow.
// PACKED   for less than 64 bits. 1: the output has no gaps, so a thread writes 16 bytes that it gathers from any
//          units. 0: each thread writes a single unit.
// BOUNDED  0: every unit comes from the source. 1: some are constants, or their address depends on bounds.

#include "enumerations.hlsli"
#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/movement/units.hlsli"

#include "shaders/movement/movement_parameters.hlsli"

#define ROWS (1 + BOUNDED)

RWStructuredBuffer<Unit> source : register(u0);
#if PACKED
RWBuffer<uint4> target : register(u17);
RWStructuredBuffer<uint> target_words : register(u1);
#elif WIDTH == 128
RWBuffer<uint4> target : register(u17);
#else
RWStructuredBuffer<Unit> target : register(u1);
#endif

// The current source address, which advances with the units of the output.
struct Cursor {
    uint unit;
    uint column;  // index along the innermost dimension
    uint row;     // index along the next dimension
    uint from;
    uint to;
#if BOUNDED
    int coordinate;  // the coordinate that the innermost dimension advances
    uint number;     // the number that the band's condition tests
    bool outside;    // true if another coordinate is out of bounds
#endif
};

#if BOUNDED

// The non-negative remainder of a division.
int positive_rest(int number, int divisor) {
    const int rest = number % divisor;
    return rest < 0 ? rest + divisor : rest;
}

// The index that replaces a coordinate outside of 0 to size - 1.
int brought_inside(uint bounds, int coordinate, int size) {
    if (bounds == DML_PADDING_MODE_EDGE) {
        return coordinate < 0 ? 0 : size - 1;
    }
    if (bounds == DML_PADDING_MODE_WRAP) {
        return positive_rest(coordinate, size);
    }
    if (bounds == DML_PADDING_MODE_SYMMETRIC) {
        const int folded = positive_rest(coordinate, 2 * size);
        return folded < size ? folded : 2 * size - 1 - folded;
    }
    // The period of reflection. A single element is its own reflection.
    const int turn = max(2 * (size - 1), 1);
    const int folded = positive_rest(coordinate, turn);
    return folded < size ? folded : turn - folded;
}

// The offset of the coordinate's element from the source's start. Sets `outside` if there is none.
uint offset_of(int coordinate, uint which, inout bool outside) {
    const uint4 bounds = coordinates[2 * which];
    const int size = int(bounds.y);
    int element = coordinate;
    if (bounds.w != 1) {
        element = int(uint(coordinate) / bounds.w);
        outside = outside || coordinate < 0 || uint(element) * bounds.w != uint(coordinate);
    }
    if (element < 0 || element >= size) {
        if (bounds.x == DML_PADDING_MODE_CONSTANT) {
            outside = true;
        } else {
            element = brought_inside(bounds.x, element, size);
        }
    }
    return uint(element) * bounds.z;
}

bool is_in_band(uint number) {
    return (number - band_begin < band_size) != (band_inverted != 0);
}

#endif

Cursor cursor_at(uint unit) {
    Cursor cursor;
    cursor.unit = unit;
    uint rest = unit / dimensions[0].x;
    cursor.column = unit - rest * dimensions[0].x;
    cursor.row = 0;
    cursor.from = source_start + cursor.column * dimensions[0].y;
    cursor.to = target_start + cursor.column * dimensions[0].z;
#if BOUNDED
    cursor.number = cursor.column * dimensions[0].w;
    cursor.outside = false;
    const uint innermost = dimensions[1].x;
    [branch] if (own_coordinates) {
        cursor.coordinate = int(coordinates[2 * innermost + 1].x + cursor.column * dimensions[1].y);
        [loop] for (uint e = 1; e < dimension_count; ++e) {
            const uint4 dimension = dimensions[2 * e];
            const uint2 moved = dimensions[2 * e + 1].xy;
            const uint quotient = rest / dimension.x;
            const uint index = rest - quotient * dimension.x;
            const int coordinate = int(coordinates[2 * moved.x + 1].x + index * moved.y);
            cursor.from += index * dimension.y + offset_of(coordinate, moved.x, cursor.outside);
            cursor.to += index * dimension.z;
            cursor.number += index * dimension.w;
            rest = quotient;
        }
        return cursor;
    }
    int walked[MOST_COORDINATES + 1];
    [loop] for (uint i = 0; i <= coordinate_count; ++i) {
        walked[i] = int(coordinates[2 * i + 1].x);
    }
    walked[dimensions[1].x] += int(cursor.column * dimensions[1].y);
#endif
    [loop] for (uint d = 1; d < dimension_count; ++d) {
        const uint4 dimension = dimensions[ROWS * d];
        const uint quotient = rest / dimension.x;
        const uint index = rest - quotient * dimension.x;
        cursor.row = d == 1 ? index : cursor.row;
        cursor.from += index * dimension.y;
        cursor.to += index * dimension.z;
#if BOUNDED
        cursor.number += index * dimension.w;
        walked[dimensions[ROWS * d + 1].x] += int(index * dimensions[ROWS * d + 1].y);
#endif
        rest = quotient;
    }
#if BOUNDED
    [loop] for (uint c = 0; c < coordinate_count; ++c) {
        if (c != innermost) {
            cursor.from += offset_of(walked[c], c, cursor.outside);
        }
    }
    cursor.coordinate = walked[innermost];
#endif
    return cursor;
}

void advance(inout Cursor cursor) {
    ++cursor.unit;
    ++cursor.column;
    cursor.from += dimensions[0].y;
#if BOUNDED
    cursor.number += dimensions[0].w;
    cursor.coordinate += int(dimensions[1].y);
#endif
    if (cursor.column == dimensions[0].x) {
#if !BOUNDED
        // If the innermost dimension is short, as for blocks, most rows are followed by another row of the next
        // dimension.
        if (dimension_count > 1 && cursor.row + 1 < dimensions[1].x) {
            cursor.column = 0;
            ++cursor.row;
            cursor.from += dimensions[1].y - dimensions[0].x * dimensions[0].y;
            return;
        }
#endif
        cursor = cursor_at(cursor.unit);
    }
}

Unit unit_at(Cursor cursor) {
    uint from = cursor.from;
#if BOUNDED
    bool outside = cursor.outside;
    from += offset_of(cursor.coordinate, dimensions[1].x, outside);
    if (outside || is_in_band(cursor.number)) {
        return UNIT_OF_PATTERN(pattern);
    }
    if (has_source == 0) {
        return (Unit)0;
    }
#endif
    return LOAD_UNIT(source, from);
}

#if PACKED

// Number of units that a thread processes.
#define UNITS (4 * PER_WORD)

#if BOUNDED
// The next four units, if they are in the same row of the innermost dimension.
uint4 four_units_of_row(Cursor cursor) {
    uint from[4];
    uint constant[4];
    uint loaded[4];
    uint i;
    [unroll] for (i = 0; i < 4; ++i) {
        bool outside = cursor.outside;
        const int coordinate = cursor.coordinate + int(i * dimensions[1].y);
        from[i] = cursor.from + i * dimensions[0].y + offset_of(coordinate, dimensions[1].x, outside);
        constant[i] = outside || is_in_band(cursor.number + i * dimensions[0].w) ? 1 : 0;
    }
    [unroll] for (i = 0; i < 4; ++i) {
        // For a constant, any readable address will do.
        loaded[i] = LOAD_UNIT(source, constant[i] ? 0 : from[i]);
    }
    uint4 units = uint4(loaded[0], loaded[1], loaded[2], loaded[3]);
    units = has_source ? units : 0;
    return uint4(constant[0], constant[1], constant[2], constant[3]) ? UNIT_OF_PATTERN(pattern) : units;
}

uint4 four_units(inout Cursor cursor) {
    uint4 units = 0;
    [branch] if (cursor.column + 4 <= dimensions[0].x) {
        units = four_units_of_row(cursor);
        cursor.unit += 3;
        cursor.column += 3;
        cursor.from += 3 * dimensions[0].y;
        cursor.number += 3 * dimensions[0].w;
        cursor.coordinate += 3 * int(dimensions[1].y);
    } else {
        [loop] for (uint i = 0; i < 4; ++i) {
            if (i > 0 && cursor.unit + 1 < unit_count) {
                advance(cursor);
            }
            units = uint4(units.yzw, unit_at(cursor));
        }
    }
    return units;
}
#else
// The next four units, as far as they exist; the cursor ends at the last of them. All are loaded together, so that the
// loads overlap.
uint4 four_units(inout Cursor cursor) {
    uint from[4];
    uint loaded[4];
    uint i;
    [unroll] for (i = 0; i < 4; ++i) {
        if (i > 0 && cursor.unit + 1 < unit_count) {
            advance(cursor);
        }
        from[i] = cursor.from;
    }
    [unroll] for (i = 0; i < 4; ++i) {
        loaded[i] = LOAD_UNIT(source, from[i]);
    }
    return uint4(loaded[0], loaded[1], loaded[2], loaded[3]);
}
#endif

// The words of a thread's units, gathered from any addresses.
uint4 gathered_words(Cursor cursor) {
#if WIDTH == 32
    return four_units(cursor);
#else
    uint4 words = 0;
    [loop] for (uint i = 0; i < PER_WORD; ++i) {
        if (i > 0 && cursor.unit + 1 < unit_count) {
            advance(cursor);
        }
        const uint4 units = four_units(cursor);
#if WIDTH == 16
        words = uint4(words.zw, units.xz | units.yw << 16);
#else
        words = uint4(words.yzw, units.x | units.y << 8 | units.z << 16 | units.w << 24);
#endif
    }
    return words;
#endif
}

#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
#if PACKED
    if (number < (unit_count + 4 * PER_WORD - 1) / (4 * PER_WORD)) {
        const uint4 words = gathered_words(cursor_at(number * UNITS));
        // Bytes after the output's last word do not belong to it.
        const uint word_count = (unit_count + PER_WORD - 1) / PER_WORD - 4 * number;
        const uint vector_index = target_start / (4 * PER_WORD) + number;
        [branch] if (word_count >= 4) {
            target[vector_index] = words;
        } else {
            [loop] for (uint i = 0; i < word_count; ++i) {
                target_words[4 * vector_index + i] = word_of(words, i);
            }
        }
    }
#else
    if (number < unit_count) {
        const Cursor cursor = cursor_at(number);
        const Unit unit = unit_at(cursor);
        STORE_UNIT(target, cursor.to, unit)
    }
#endif
}

// Copies to a packed output in rows, mainly for windows.
//
// WIDTH  bits of the units, 8, 16 or 32: see units.hlsli. A row has 16 bytes or more. Its units are equidistant in
//        the source, and narrow ones are adjacent.
//
// A vector is 16 bytes of the output. It may contain the end of a row and the beginning of the next one.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/movement/units.hlsli"

#include "shaders/movement/movement_rows_parameters.hlsli"

// Number of units in a vector.
#define UNITS (4 * PER_WORD)

RWStructuredBuffer<uint> source : register(u0);
RWBuffer<uint4> target : register(u17);
RWStructuredBuffer<uint> target_words : register(u1);

// The row and the source address of a unit.
struct Start {
    uint column;
    uint row;
    uint from;
};

// The quotient by a dimension's size, faster than by a division: the FP32 product with the inverse, minus a half, is
// rounded to an integer in the last bits of a number from 2^23 on. The result is exact or 1 too small, which is
// corrected.
uint quotient_of(uint number, uint4 dimension) {
    uint quotient;
    [branch] if (dimension.z != 0) {
        quotient = asuint(float(number) * asfloat(dimension.z) + 8388607.5f) - 0x4b000000;
        quotient += number - quotient * dimension.x >= dimension.x ? 1 : 0;
    } else {
        quotient = number / dimension.x;
    }
    return quotient;
}

Start start_at(uint unit) {
    Start start;
    uint rest = quotient_of(unit, dimensions[0]);
    start.column = unit - rest * dimensions[0].x;
    start.row = rest;
    start.from = source_start + start.column * dimensions[0].y;
    [loop] for (uint d = 1; d < last_dimension; ++d) {
        const uint quotient = quotient_of(rest, dimensions[d]);
        const uint index = rest - quotient * dimensions[d].x;
        start.row = d == 1 ? index : start.row;
        start.from += index * dimensions[d].y;
        rest = quotient;
    }
    start.from += rest * dimensions[last_dimension].y;
    return start;
}

// How much further on the units from number `own` on are, which belong to the next row. After the last row any unit of
// it will do.
uint jump_of(Start start, uint unit, uint own) {
    uint jump = row_jump;
    [branch] if (own < UNITS && start.row + 1 >= dimensions[1].x) {
        if (unit + own < unit_count) {
            jump = start_at(unit + own).from - (start.from + own * dimensions[0].y);
        } else {
            jump = (own - UNITS) * dimensions[0].y;
        }
    }
    return jump;
}

#if WIDTH == 32

uint4 vector_at(uint from, uint own, uint jump) {
    uint loaded[4];
    [unroll] for (uint i = 0; i < 4; ++i) {
        loaded[i] = source[from + i * dimensions[0].y + (i < own ? 0 : jump)];
    }
    return uint4(loaded[0], loaded[1], loaded[2], loaded[3]);
}

#else

// A mask of the bits of a vector's first `count` units.
uint4 bits_of_first(uint count) {
    const uint4 first_of_word = uint4(0, 1, 2, 3) * PER_WORD;
    const uint4 units = clamp(int4(count - first_of_word), 0, PER_WORD);
    return units == PER_WORD ? 0xffffffff : (1u << (units * WIDTH % 32)) - 1;
}

// Words that begin within words. Shifts in two steps, because a word cannot be shifted by its own size.
uint4 shifted(uint4 low, uint4 high, uint unit) {
    const uint shift = SHIFT_OF(PACKING, unit);
    return low >> shift | (high << 1) << (31 - shift);
}

// A vector's units are in five words of the source. If a row ends in the vector, two more words are read: the end of
// the row after its last whole word, and the start of the next row before its first one. All loads come first, so that
// they overlap.
uint4 vector_at(uint from, uint own, uint jump) {
    const bool ends = own < UNITS;
    const uint next = ends ? from + jump : from;
    // Words after this one belong to the next row.
    const uint last = (own - 1) >> PACKING;
    const uint first_word = from >> PACKING;
    // The next row may begin before the vector would in the source's first words.
    const uint next_word = ((next + UNITS) >> PACKING) - 4;
    uint loaded[5];
    uint behind = 0;
    uint before = 0;
    [unroll] for (uint i = 0; i < 4; ++i) {
        loaded[i] = source[(i <= last ? first_word : next_word) + i];
    }
    loaded[4] = source[(next + UNITS - 1) >> PACKING];
    [branch] if (ends) {
        behind = source[min(first_word + last + 1, (from + own - 1) >> PACKING)];
        before = source[max(int(next_word + last), int((next + own) >> PACKING))];
    }
    const uint4 low = uint4(loaded[0], loaded[1], loaded[2], loaded[3]);
    const uint4 high = uint4(loaded[1], loaded[2], loaded[3], loaded[4]);
    uint4 words = 0;
    [branch] if (ends) {
        const bool4 is_last = uint4(0, 1, 2, 3) == last;
        const uint4 mask = bits_of_first(own);
        words = (shifted(low, is_last ? behind : high, from) & mask) |
                (shifted(is_last ? before : low, high, next) & ~mask);
    } else {
        words = shifted(low, high, from);
    }
    return words;
}

#endif

uint4 vector_of(Start start, uint unit) {
    const uint own = min(dimensions[0].x - start.column, UNITS);
    return vector_at(start.from, own, jump_of(start, unit, own));
}

void store(uint number, uint4 words) {
    const uint vector_index = target_start + number;
    // Bytes after the output's last word do not belong to it.
    const uint word_count = (unit_count + PER_WORD - 1) / PER_WORD - 4 * number;
    [branch] if (word_count >= 4) {
        target[vector_index] = words;
    } else {
        [loop] for (uint i = 0; i < word_count; ++i) {
            target_words[4 * vector_index + i] = word_of(words, i);
        }
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    const uint unit = number * UNITS;
    if (unit < unit_count) {
        store(number, vector_of(start_at(unit), unit));
    }
}

// SLICE1: a strided copy, whatever the bits mean.
//
// WIDTH   bits of the units that are copied: 8, 16, 32 or 128. The binding chooses units as large as the strides allow,
//         and 64-bit elements are two units of 32.
// PACKED  for less than 128 bits. 1: the output has no gaps, so a thread makes 16 bytes of it from whatever
//         units lie there. 0: each thread puts one unit to its place.

#include "dispatch.hlsli"
#include "strided.hlsli"

cbuffer Parameters : register(b0) {
    uint unit_count;
    uint dimension_count;
    uint from_start;
    uint to_start;
    uint4 dimensions[9];  // size, stride in source, stride in target
};

#define GROUP_SIZE 256

#if WIDTH == 128
RWStructuredBuffer<uint4> source : register(u0);
#else
RWStructuredBuffer<uint> source : register(u0);
#endif
#if WIDTH == 128 || PACKED
RWStructuredBuffer<uint4> target : register(u1);
#else
RWStructuredBuffer<uint> target : register(u1);
#endif

// Where a unit lies in source and target.
uint2 locate(uint unit) {
    uint3 offsets = uint3(from_start, to_start, 0);
    ADD_STRIDED_OFFSETS(offsets, unit, dimensions, dimension_count)
    return offsets.xy;
}

#if WIDTH < 128

#define PER_WORD (32 / WIDTH)
#if WIDTH == 32
#define MASK 0xffffffff
#else
#define MASK ((1u << WIDTH) - 1)
#endif

uint load_unit(uint offset) {
    return source[offset / PER_WORD] >> (offset % PER_WORD * WIDTH) & MASK;
}

// A place in the source that moves along with the units of the output.
struct Cursor {
    uint unit;
    uint column;  // of the innermost dimension
    uint from;
};

Cursor cursor_at(uint unit) {
    Cursor cursor;
    cursor.unit = unit;
    cursor.column = unit % dimensions[0].x;
    cursor.from = locate(unit).x;
    return cursor;
}

// The next word of a packed output.
uint gather_word(inout Cursor cursor) {
    uint word = 0;
#if WIDTH < 32
    if (dimensions[0].y == 1 && cursor.column + PER_WORD < dimensions[0].x && cursor.unit + PER_WORD < unit_count) {
        // Adjacent units, in at most two words, and more of them after these.
        const uint shift = cursor.from % PER_WORD * WIDTH;
        const uint first = cursor.from / PER_WORD;
        word = source[first] >> shift;
        if (shift != 0) {
            word |= source[first + 1] << (32 - shift);
        }
        cursor.unit += PER_WORD;
        cursor.column += PER_WORD;
        cursor.from += PER_WORD;
        return word;
    }
#endif
    [loop] for (uint i = 0; i < PER_WORD && cursor.unit < unit_count; ++i) {
        word |= load_unit(cursor.from) << (i * WIDTH);
        ++cursor.unit;
        ++cursor.column;
        cursor.from += dimensions[0].y;
        if (cursor.column == dimensions[0].x) {
            cursor.column = 0;
            cursor.from = locate(cursor.unit).x;
        }
    }
    return word;
}

#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
#if WIDTH == 128
    if (number < unit_count) {
        const uint2 place = locate(number);
        target[place.y] = source[place.x];
    }
#elif PACKED
    if (number < (unit_count + 4 * PER_WORD - 1) / (4 * PER_WORD)) {
        Cursor cursor = cursor_at(number * 4 * PER_WORD);
        uint4 words;
        words.x = gather_word(cursor);
        words.y = gather_word(cursor);
        words.z = gather_word(cursor);
        words.w = gather_word(cursor);
        // What lies behind the output's last word is not its own.
        const uint word_count = (unit_count + PER_WORD - 1) / PER_WORD - 4 * number;
        if (word_count >= 4) {
            target[number] = words;
        } else if (word_count == 3) {
            target[number].xyz = words.xyz;
        } else if (word_count == 2) {
            target[number].xy = words.xy;
        } else {
            target[number].x = words.x;
        }
    }
#else
    if (number < unit_count) {
        const uint2 place = locate(number);
#if WIDTH == 32
        target[place.y] = source[place.x];
#else
        // Other threads have the word's other bits: only these change, whatever the order.
        const uint shift = place.y % PER_WORD * WIDTH;
        InterlockedAnd(target[place.y / PER_WORD], ~(MASK << shift));
        InterlockedOr(target[place.y / PER_WORD], load_unit(place.x) << shift);
#endif
    }
#endif
}

// Windows that slide over a tensor: each element of the output is computed from the elements that its window covers or,
// for gradients, from the windows that cover it. Both are ranges of positions along up to three dimensions.
//
// FUNCTION  what is computed: see window_functions.hlsli
// ELEMENTS  see element_layouts.hlsli
// LANES     4: a thread computes elements of four planes at once, whose windows have the same positions

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/window/window_parameters.hlsli"
#include "shaders/common/activation.hlsli"
#include "shaders/element_wise/element_wise_functions.hlsli"


#include "shaders/common/made_elements.hlsli"

RWStructuredBuffer<uint> source : register(u0);
RWStructuredBuffer<uint> second : register(u1);
RWStructuredBuffer<uint> target : register(u2);
RWStructuredBuffer<uint> second_target : register(u3);
#if FUNCTION == WINDOW_QUANTIZED_AVERAGE
RWStructuredBuffer<uint> input_scales : register(u4);
RWStructuredBuffer<uint> input_zero_points : register(u5);
RWStructuredBuffer<uint> output_scales : register(u6);
RWStructuredBuffer<uint> output_zero_points : register(u7);
#endif

#define SOURCE_OFFSET offsets[0].y
#define SECOND_OFFSET offsets[0].z
#define TARGET_OFFSET offsets[0].w
#define OTHER_OFFSET offsets[1].x
// Window indices along their dimensions.
#define NUMBERS offsets[1].yzw

// Positions along a dimension of what is read.
struct Range {
    uint first;
    uint step;
    uint count;
};

// Division by 1 is frequent, and divisions are slow.
uint quotient(uint x, uint divisor) {
    uint result = x;
    [branch] if (divisor != 1) {
        result = x / divisor;
    }
    return result;
}

// The positions that a window covers, modulo 2^32: positions before the first wrap to after the last.
Range seen_by(uint window, uint4 shape, uint4 extent) {
    const uint begin = window * shape.y;
    const uint end = shape.w + extent.x;
    const uint skipped = begin >= shape.w ? 0 : quotient(shape.w - begin - 1, shape.z) + 1;
    const uint seen = begin >= end ? 0 : min(quotient(end - begin - 1, shape.z) + 1, shape.x);
    Range range;
    range.first = begin + skipped * shape.z - shape.w;
    range.step = shape.z;
    range.count = seen > skipped ? seen - skipped : 0;
    return range;
}

// The windows that cover this position.
Range seeing(uint position, uint4 shape, uint4 extent) {
    const uint padded = position + shape.w;
    Range range;
    range.first = padded < shape.x ? 0 : quotient(padded - shape.x, shape.y) + 1;
    range.step = 1;
    const uint end = min(quotient(padded, shape.y) + 1, extent.x);
    range.count = end > range.first ? end - range.first : 0;
    return range;
}

#define IS_GRADIENT (FUNCTION == WINDOW_AVERAGE_GRADIENT || FUNCTION == WINDOW_LARGEST_GRADIENT)

Range range_of(uint dimension, uint number) {
    const uint4 shape = windows[2 * dimension];
    const uint4 extent = windows[2 * dimension + 1];
#if IS_GRADIENT
    return seeing(number, shape, extent);
#else
    return seen_by(number, shape, extent);
#endif
}

#if FUNCTION == WINDOW_AVERAGE_GRADIENT
// The number of window elements along a dimension that count for the divisor.
float divisor_of(uint window, uint dimension) {
    const uint4 shape = windows[2 * dimension];
    const uint end = windows[2 * dimension + 1].w;
    const uint begin = window * shape.y;
    const uint missed = includes_padding == 0 && begin < shape.w ? shape.w - begin : 0;
    return float(min(shape.x, end - begin) - missed);
}
#endif

#include "shaders/window/window_states.hlsli"

// The offset of the element with the output's coordinates in tensor 1 or 2.
uint own_offset(uint start, uint3 numbers, uint3 strides) {
    return start + numbers.x * strides.x + numbers.y * strides.y + numbers.z * strides.z;
}

#define FIRST_STRIDES uint3(windows[1].y, windows[3].y, windows[5].y)
#define SECOND_STRIDES uint3(windows[1].z, windows[3].z, windows[5].z)

// The results of the lanes.
#if LANES == 4
#define Made Words
#define STORE_LANES(offset, distance, bits)       \
    {                                             \
        const uint4 made = bits;                  \
        target[offset] = made.x;                  \
        target[offset + (distance)] = made.y;     \
        target[offset + 2 * (distance)] = made.z; \
        target[offset + 3 * (distance)] = made.w; \
    }
#if ELEMENTS == ELEMENTS_PACKED
#define PUT_LANES(offset, bits) result = bits;
// Planes of the output are contiguous and consist of whole words; the other three words belong to other lanes.
#define STORE_WORDS(first, words)                                  \
    {                                                              \
        const uint distance = lane_strides.z >> packing;           \
        const uint word = (first) >> packing;                      \
        const uint offset = word + word / distance * 3 * distance; \
        STORE_LANES(offset, distance, words)                       \
    }
#else
#define PUT_LANES(offset, bits) STORE_LANES(offset, lane_strides.z, bits)
#endif
#else
#define PUT_LANES(offset, bits) PUT(offset, bits)
#endif

struct Ranges {
    Range columns;
    Range rows;
    Range planes;
};

State seen_in(Ranges ranges, State state, uint plane, uint second_plane) {
    const uint3 steps = uint3(ranges.columns.step, ranges.rows.step, ranges.planes.step);
    const uint3 first_steps = FIRST_STRIDES * steps;
    const uint3 second_steps = SECOND_STRIDES * steps;
    [loop] for (uint p = 0; p < ranges.planes.count; ++p) {
        uint row = plane;
        uint second_row = second_plane;
        [loop] for (uint r = 0; r < ranges.rows.count; ++r) {
            uint offset = row;
            uint second_offset = second_row;
#if FUNCTION == WINDOW_AVERAGE_GRADIENT
            state.outer_divisor = divisor_of(ranges.planes.first + p, 2) * divisor_of(ranges.rows.first + r, 1);
#endif
            [loop] for (uint c = 0; c < ranges.columns.count; ++c) {
                see(state, offset, second_offset, ranges.columns.first + c);
                offset += first_steps.x;
                second_offset += second_steps.x;
            }
            row += first_steps.y;
            second_row += second_steps.y;
        }
        plane += first_steps.z;
        second_plane += second_steps.z;
    }
    return state;
}

// Stores the result of a window that covered `seen` elements.
Words finish(State state, uint number, uint4 offsets[WINDOW_ROWS], float seen) {
    Words result = 0;
    const bool any = seen != 0;
    const uint3 numbers = NUMBERS;
#if FUNCTION == WINDOW_AVERAGE
    PUT_LANES(TARGET_OFFSET, BITS_OF_REALS(average(state, seen)))
#elif FUNCTION == WINDOW_ROOT
    PUT(TARGET_OFFSET, bits_from(root(state)))
#elif FUNCTION == WINDOW_QUANTIZED_AVERAGE
    PUT(TARGET_OFFSET, quantized_average(state, seen, OTHER_OFFSET))
#elif FUNCTION == WINDOW_LARGEST
    PUT_LANES(TARGET_OFFSET, any ? bits_of_key(state.key) : lowest_low)
#elif FUNCTION == WINDOW_LARGEST_INDEX
    if (has_values) {
        PUT_LANES(TARGET_OFFSET, state.low)
    }
    store_indices(OTHER_OFFSET, any, state.index);
#elif FUNCTION == WINDOW_LARGEST_TWO_WORDS
    target[2 * TARGET_OFFSET] = state.low;
    target[2 * TARGET_OFFSET + 1] = state.high;
    store_indices(OTHER_OFFSET, any, state.index);
#elif IS_GRADIENT
    PUT(TARGET_OFFSET, bits_from(state.sum))
#elif FUNCTION == WINDOW_RESPONSE
    const float x = REAL(source, own_offset(SOURCE_OFFSET, numbers, FIRST_STRIDES));
    PUT(TARGET_OFFSET, bits_from(divide_exactly(x, power(base_of(state), exponent)).x))
#elif FUNCTION == WINDOW_RESPONSE_PARTS
    const float x = REAL(source, own_offset(SOURCE_OFFSET, numbers, FIRST_STRIDES));
    const float gradient = REAL(second, own_offset(SECOND_OFFSET, numbers, SECOND_STRIDES));
    const float base = base_of(state);
    target[number] = asuint(divide_exactly(gradient, power(base, exponent)).x);
    second_target[number] = asuint(divide_exactly(gradient * x, power(base, exponent + 1)).x);
#elif FUNCTION == WINDOW_RESPONSE_GRADIENT
    const float x = REAL(second, own_offset(SECOND_OFFSET, numbers, SECOND_STRIDES));
    PUT(TARGET_OFFSET, bits_from(asfloat(second_target[number]) - gradient_factor * x * state.sum))
#endif
    return result;
}

Words make(uint number) {
    STRIDED_OFFSETS(offsets, WINDOW_ROWS, number, dimensions, dimension_count)
    Ranges ranges;
    ranges.columns = range_of(0, NUMBERS.x);
    ranges.rows = range_of(1, NUMBERS.y);
    ranges.planes = range_of(2, NUMBERS.z);
    const float seen = float(ranges.columns.count) * float(ranges.rows.count) * float(ranges.planes.count);
    const bool any = seen != 0;
    const uint3 starts = uint3(ranges.columns.first, ranges.rows.first, ranges.planes.first);
    const uint plane = own_offset(SOURCE_OFFSET, starts, FIRST_STRIDES);
    const uint second_plane = own_offset(SECOND_OFFSET, starts, SECOND_STRIDES);
#if FUNCTION == WINDOW_LARGEST_GRADIENT
    const State none = nothing(number);
#elif FUNCTION == WINDOW_QUANTIZED_AVERAGE
    const State none = nothing(OTHER_OFFSET);
#else
    const State none = nothing(any ? second_plane : no_index);
#endif
    return finish(seen_in(ranges, none, plane, second_plane), number, offsets, seen);
}

#include "shaders/common/element_threads.hlsli"

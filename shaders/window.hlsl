// Windows that slide over a tensor: each element of the output is made of those that its window sees, or, in the case
// of gradients, of the windows that see it. Either way these are ranges of places along up to three dimensions.
//
// FUNCTION  what is made of them: see window_parameters.hlsli
// ELEMENTS  see element_layouts.hlsli
// LANES     4: a thread makes elements of four planes at once, which have their windows at the same places

#include "dispatch.hlsli"
#include "element_format.hlsli"
#include "strided.hlsli"
#include "window_parameters.hlsli"
#include "activation.hlsli"
#include "element_wise_functions.hlsli"

cbuffer Parameters : register(b0) {
#include "window_members.hlsli"
};

#include "made_elements.hlsli"

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

#define SOURCE_PLACE places[0].y
#define SECOND_PLACE places[0].z
#define TARGET_PLACE places[0].w
#define OTHER_PLACE places[1].x

// Places along a dimension of what is read.
struct Range {
    uint first;
    uint step;
    uint count;
};

// Divisions by 1 are common, and slow.
uint quotient(uint x, uint divisor) {
    uint result = x;
    [branch] if (divisor != 1) {
        result = x / divisor;
    }
    return result;
}

// What the window with this number sees. In numbers modulo 2^32: places before the first are beyond the last.
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

// The windows that see this place.
Range seeing(uint place, uint4 shape, uint4 extent) {
    const uint padded = place + shape.w;
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
// How many places of a window its divisor counts along a dimension.
float divisor_of(uint window, uint dimension) {
    const uint4 shape = windows[2 * dimension];
    const uint end = windows[2 * dimension + 1].w;
    const uint begin = window * shape.y;
    const uint missed = includes_padding == 0 && begin < shape.w ? shape.w - begin : 0;
    return float(min(shape.x, end - begin) - missed);
}
#endif

#include "window_states.hlsli"

// Where the element with the same place as that of the output is in a tensor: 1 or 2.
uint own_place(uint start, uint3 numbers, uint3 strides) {
    return start + numbers.x * strides.x + numbers.y * strides.y + numbers.z * strides.z;
}

#define FIRST_STRIDES uint3(windows[1].y, windows[3].y, windows[5].y)
#define SECOND_STRIDES uint3(windows[1].z, windows[3].z, windows[5].z)

// What lanes make.
#if LANES == 4
#define Made Words
#define STORE_LANES(place, distance, bits)        \
    {                                             \
        const uint4 made = bits;                  \
        target[place] = made.x;                   \
        target[place + (distance)] = made.y;      \
        target[place + 2 * (distance)] = made.z;  \
        target[place + 3 * (distance)] = made.w;  \
    }
#if ELEMENTS == ELEMENTS_PACKED
#define PUT_LANES(place, bits) result = bits;
// Planes of the output lie side by side, in whole words, and three of four are other lanes'.
#define STORE_WORDS(first, words)                                                  \
    {                                                                              \
        const uint distance = lane_strides.z >> packing;                           \
        const uint word = (first) >> packing;                                      \
        const uint place = word + word / distance * 3 * distance;                  \
        STORE_LANES(place, distance, words)                                        \
    }
#else
#define PUT_LANES(place, bits) STORE_LANES(place, lane_strides.z, bits)
#endif
#else
#define PUT_LANES(place, bits) PUT(place, bits)
#endif

Words make(uint number) {
    Words result = 0;
    STRIDED_OFFSETS(places, WINDOW_ROWS, number, dimensions, dimension_count)
    const uint3 numbers = places[1].yzw;
    const Range columns = range_of(0, numbers.x);
    const Range rows = range_of(1, numbers.y);
    const Range planes = range_of(2, numbers.z);
    const bool any = columns.count != 0 && rows.count != 0 && planes.count != 0;
    const uint3 first_steps = FIRST_STRIDES * uint3(columns.step, rows.step, planes.step);
    const uint3 second_steps = SECOND_STRIDES * uint3(columns.step, rows.step, planes.step);
    const uint3 starts = uint3(columns.first, rows.first, planes.first);
    uint plane = own_place(SOURCE_PLACE, starts, FIRST_STRIDES);
    uint second_plane = own_place(SECOND_PLACE, starts, SECOND_STRIDES);
#if FUNCTION == WINDOW_LARGEST_GRADIENT
    State state = nothing(number);
#elif FUNCTION == WINDOW_QUANTIZED_AVERAGE
    State state = nothing(OTHER_PLACE);
#else
    State state = nothing(any ? second_plane : no_place);
#endif
    [loop] for (uint p = 0; p < planes.count; ++p) {
        uint row = plane;
        uint second_row = second_plane;
        [loop] for (uint r = 0; r < rows.count; ++r) {
            uint place = row;
            uint second_place = second_row;
#if FUNCTION == WINDOW_AVERAGE_GRADIENT
            state.outer_divisor = divisor_of(planes.first + p, 2) * divisor_of(rows.first + r, 1);
#endif
            [loop] for (uint c = 0; c < columns.count; ++c) {
                see(state, place, second_place, columns.first + c);
                place += first_steps.x;
                second_place += second_steps.x;
            }
            row += first_steps.y;
            second_row += second_steps.y;
        }
        plane += first_steps.z;
        second_plane += second_steps.z;
    }

#if FUNCTION == WINDOW_AVERAGE
    const float seen = float(columns.count) * float(rows.count) * float(planes.count);
    PUT_LANES(TARGET_PLACE, BITS_OF_REALS(average(state, seen)))
#elif FUNCTION == WINDOW_ROOT
    PUT(TARGET_PLACE, bits_from(root(state)))
#elif FUNCTION == WINDOW_QUANTIZED_AVERAGE
    const float seen = float(columns.count) * float(rows.count) * float(planes.count);
    PUT(TARGET_PLACE, quantized_average(state, seen, OTHER_PLACE))
#elif FUNCTION == WINDOW_LARGEST
    PUT_LANES(TARGET_PLACE, any ? bits_of_key(state.key) : lowest_low)
#elif FUNCTION == WINDOW_LARGEST_PLACE
    if (has_values) {
        PUT_LANES(TARGET_PLACE, state.low)
    }
    store_places(OTHER_PLACE, any, state.place);
#elif FUNCTION == WINDOW_LARGEST_TWO_WORDS
    target[2 * TARGET_PLACE] = state.low;
    target[2 * TARGET_PLACE + 1] = state.high;
    store_places(OTHER_PLACE, any, state.place);
#elif IS_GRADIENT
    PUT(TARGET_PLACE, bits_from(state.sum))
#elif FUNCTION == WINDOW_RESPONSE
    const float x = REAL(source, own_place(SOURCE_PLACE, numbers, FIRST_STRIDES));
    PUT(TARGET_PLACE, bits_from(divide_exactly(x, power(base_of(state), exponent)).x))
#elif FUNCTION == WINDOW_RESPONSE_PARTS
    const float x = REAL(source, own_place(SOURCE_PLACE, numbers, FIRST_STRIDES));
    const float gradient = REAL(second, own_place(SECOND_PLACE, numbers, SECOND_STRIDES));
    const float base = base_of(state);
    target[number] = asuint(divide_exactly(gradient, power(base, exponent)).x);
    second_target[number] = asuint(divide_exactly(gradient * x, power(base, exponent + 1)).x);
#elif FUNCTION == WINDOW_RESPONSE_GRADIENT
    const float x = REAL(second, own_place(SECOND_PLACE, numbers, SECOND_STRIDES));
    PUT(TARGET_PLACE, bits_from(asfloat(second_target[number]) - gradient_factor * x * state.sum))
#endif
    return result;
}

#include "element_threads.hlsli"

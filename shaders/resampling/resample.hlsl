// Resampling: reads the input at positions between its elements, by nearest neighbour or interpolation.
//
// TAKES     see resample_parameters.hlsli
// ELEMENTS  see element_layouts.hlsli

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/float32.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/resampling/resample_parameters.hlsli"
#include "shaders/resampling/resample_tensors.hlsli"
#include "shaders/resampling/resample_positions.hlsli"
#include "shaders/resampling/interpolation.hlsli"

uint offset_of(uint element, uint dimension) {
    return min(element, scaled[2 * dimension].x - 1) * scaled[2 * dimension].y;
}

#if TAKES == TAKES_NEAREST

uint make(uint number) {
    uint result = 0;
    STRIDED_OFFSETS(offsets, ROWS, number, dimensions, dimension_count)
    const uint4 numbers = NUMBERS;
    uint offset = SOURCE_OFFSET;
    [unroll] for (uint d = 0; d < MOST_SCALED; ++d) {
        if (d < scaled_count) {
            offset += offset_of(nearest_element(position_in_source(numbers[d], d)), d);
        }
    }
    PUT(TARGET_OFFSET, LOAD(source, offset))
    return result;
}

#else

#define CORNERS (TAKES == TAKES_FOUR ? 16 : 4)

// Interpolates this many pairs of corners that are adjacent along a dimension.
#define BETWEEN_PAIRS(pairs, distance)                                                    \
    {                                                                                     \
        [unroll] for (uint pair = 0; pair < (pairs); ++pair) {                            \
            corners[pair] = between(corners[2 * pair], corners[2 * pair + 1], distance);  \
        }                                                                                 \
    }

uint make(uint number) {
    uint result = 0;
    STRIDED_OFFSETS(offsets, ROWS, number, dimensions, dimension_count)
    const uint4 numbers = NUMBERS;
    uint lower[TAKES];
    uint upper[TAKES];
    float distance[TAKES];
    [unroll] for (uint d = 0; d < TAKES; ++d) {
        lower[d] = 0;
        upper[d] = 0;
        distance[d] = 0;
        if (d < scaled_count) {
            const float position = position_in_source(numbers[d], d);
            const float element = floor(position);
            lower[d] = offset_of(uint(element), d);
            upper[d] = offset_of(uint(element) + 1, d);
            distance[d] = position - element;
        }
    }
    float corners[CORNERS];
    [unroll] for (uint i = 0; i < CORNERS; ++i) {
        uint offset = SOURCE_OFFSET;
        [unroll] for (uint a = 0; a < TAKES; ++a) {
            offset += (i >> a & 1) != 0 ? upper[a] : lower[a];
        }
        corners[i] = number_at(offset);
    }
#if TAKES == TAKES_FOUR
    BETWEEN_PAIRS(8, distance[0])
    BETWEEN_PAIRS(4, distance[1])
#endif
    BETWEEN_PAIRS(2, distance[TAKES - 2])
    BETWEEN_PAIRS(1, distance[TAKES - 1])
    PUT(TARGET_OFFSET, bits_of_number(corners[0]))
    return result;
}

#endif

#include "shaders/common/element_threads.hlsli"

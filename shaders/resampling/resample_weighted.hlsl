// Resampling by weighted sums over any number of elements along up to four dimensions: filters that are longer than a
// step of the input, and gradients.
//
// WEIGHTS   see resample_parameters.hlsli
// ELEMENTS  see element_layouts.hlsli

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/float32.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/resampling/resample_parameters.hlsli"
#include "shaders/resampling/resample_tensors.hlsli"
#include "shaders/resampling/resample_positions.hlsli"

// The elements along a dimension that may have a weight.
struct Reach {
    int first;
    uint count;
    float position;  // position of the computed element
};

#if WEIGHTS == WEIGHTS_FILTER

#define SLOPE(dimension) asfloat(scaled[2 * (dimension) + 1].y)

// A filter that is not widened covers two elements of the input.
Reach reach_of(uint number, uint dimension) {
    const float slope = SLOPE(dimension);
    Reach reach;
    if (slope == 1) {
        reach.position = position_in_source(number, dimension);
        reach.first = int(floor(reach.position));
        reach.count = scaled[2 * dimension].x == 1 ? 1 : 2;
    } else {
        // Positions further outside give the same result.
        const float half_length = ceil(1 / slope) + 1;
        const float size = float(scaled[2 * dimension].x);
        reach.position = clamp(any_position(number, dimension), -half_length, size + half_length);
        reach.first = int(floor(reach.position) - half_length);
        reach.count = 2 * uint(half_length) + 2;
    }
    return reach;
}

float weight_of(Reach reach, uint i, uint dimension) {
    return max(0, 1 - abs(float(reach.first + int(i)) - reach.position) * SLOPE(dimension));
}

uint offset_of(Reach reach, uint i, uint dimension) {
    const int last = int(scaled[2 * dimension].x - 1);
    return uint(clamp(reach.first + int(i), 0, last)) * scaled[2 * dimension].y;
}

#else

// A range that contains the outputs next to the element, and some more because of rounding.
Reach reach_of(uint number, uint dimension) {
    const uint4 row = scaled[2 * dimension];
    const uint4 second_row = scaled[2 * dimension + 1];
    const float last = float(second_row.z - 1);
    const float begin = (float(number) - 1 + asfloat(second_row.x)) * asfloat(row.z) + asfloat(row.w);
    const float end = (float(number) + 1 + asfloat(second_row.x)) * asfloat(row.z) + asfloat(row.w);
    // Everything outside counts for the elements at the edges.
    const float first_element = number == 0 ? 0 : clamp(floor(begin) - 2, 0, last);
    const float last_element = number == row.x - 1 ? last : clamp(ceil(end) + 2, 0, last);
    Reach reach;
    reach.first = int(first_element);
    reach.count = uint(max(last_element - first_element, -1) + 1);
    reach.position = float(number);
    return reach;
}

float weight_of(Reach reach, uint i, uint dimension) {
    const float position = position_in_source(uint(reach.first) + i, dimension);
    if (interpolates == 0) {
        return float(nearest_element(position)) == reach.position ? 1 : 0;
    }
    const float element = floor(position);
    return element == reach.position       ? 1 - (position - element)
           : element + 1 == reach.position ? position - element : 0;
}

uint offset_of(Reach reach, uint i, uint dimension) {
    return (uint(reach.first) + i) * scaled[2 * dimension].y;
}

#endif

uint make(uint number) {
    uint result = 0;
    STRIDED_OFFSETS(offsets, ROWS, number, dimensions, dimension_count)
    const uint4 numbers = NUMBERS;
    const Reach reach_x = reach_of(numbers.x, 0);
    const Reach reach_y = reach_of(numbers.y, 1);
    const Reach reach_z = reach_of(numbers.z, 2);
    const Reach reach_w = reach_of(numbers.w, 3);
    // Integers are summed as differences from one of them, so that the mean of equal ones is exact.
    float base = 0;
#if WEIGHTS == WEIGHTS_FILTER
    if (kind <= KIND_SIGNED) {
        base = number_at(SOURCE_OFFSET + offset_of(reach_x, 0, 0) + offset_of(reach_y, 0, 1) +
                         offset_of(reach_z, 0, 2) + offset_of(reach_w, 0, 3));
    }
#endif
    float sum = 0;
    float total = 0;
    [loop] for (uint w = 0; w < reach_w.count; ++w) {
        const float weight_w = weight_of(reach_w, w, 3);
        const uint offset_w = SOURCE_OFFSET + offset_of(reach_w, w, 3);
        [loop] for (uint z = 0; z < reach_z.count; ++z) {
            const float weight_z = weight_w * weight_of(reach_z, z, 2);
            const uint offset_z = offset_w + offset_of(reach_z, z, 2);
            [loop] for (uint y = 0; y < reach_y.count; ++y) {
                const float weight_y = weight_z * weight_of(reach_y, y, 1);
                const uint offset_y = offset_z + offset_of(reach_y, y, 1);
                [loop] for (uint x = 0; x < reach_x.count; ++x) {
                    const float weight = weight_y * weight_of(reach_x, x, 0);
                    if (weight != 0) {
                        sum += weight * (number_at(offset_y + offset_of(reach_x, x, 0)) - base);
                        total += weight;
                    }
                }
            }
        }
    }
#if WEIGHTS == WEIGHTS_FILTER
    sum = base + divide_exactly(float4(sum, 0, 0, 0), total).x;
#endif
    PUT(TARGET_OFFSET, bits_of_number(sum))
    return result;
}

#include "shaders/common/element_threads.hlsli"

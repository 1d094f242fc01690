// Regions of interest: converts regions of the input to outputs of one size, by pooling or by interpolated samples.
//
// MAKES     see region_parameters.hlsli
// ELEMENTS  see element_layouts.hlsli

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/common/activation.hlsli"
#include "shaders/element_wise/element_wise_functions.hlsli"
#include "shaders/regions/region_parameters.hlsli"

#include "shaders/common/made_elements.hlsli"

RWStructuredBuffer<uint> source : register(u0);    // the input
RWStructuredBuffer<uint> regions : register(u1);
RWStructuredBuffer<uint> target : register(u2);
RWStructuredBuffer<uint> batch_indices : register(u3);
RWStructuredBuffer<uint> gradients : register(u4);  // gradients of the forward output
RWStructuredBuffer<uint> chosen : register(u5);     // indices of samples, by the index of the output element

#define TARGET_OFFSET offsets[0].y
// Region or batch, channel, y and x.
#define NUMBERS uint4(offsets[0].zw, offsets[1].xy)

#if MAKES == MAKES_POOLED

#include "shaders/window/window_functions.hlsli"
#define FUNCTION WINDOW_LARGEST
#define LANES 1
#include "shaders/window/window_states.hlsli"

// Larger coordinates are outside of every input.
#define FARTHEST 1073741824.0

int rounded_coordinate(uint region, uint coordinate) {
    precise const float position = REAL(regions, region * region_strides.x + coordinate * region_strides.y) * scale_x;
    return is_nan(position) ? 0 : int(clamp(round(position), -FARTHEST, FARTHEST));
}

// The elements from x to y - 1 of an output's bin of a region. Divides in two steps, because products could overflow.
uint2 part_of(uint region, uint coordinate, uint number, uint outputs, uint size) {
    const int begin = rounded_coordinate(region, coordinate);
    const uint length = uint(max(rounded_coordinate(region, coordinate + 2) - begin + 1, 1));
    const uint whole = length / outputs;
    const uint rest = length - whole * outputs;
    const int first = begin + int(number * whole + number * rest / outputs);
    const int end = begin + int((number + 1) * whole + ((number + 1) * rest + outputs - 1) / outputs);
    return uint2(clamp(first, 0, int(size)), clamp(end, 0, int(size)));
}

uint make(uint number) {
    uint result = 0;
    STRIDED_OFFSETS(offsets, REGION_ROWS, number, dimensions, dimension_count)
    const uint4 numbers = NUMBERS;
    const float batch = REAL(regions, numbers.x * region_strides.x);
    const uint batch_number = is_nan(batch) ? 0 : uint(clamp(batch, 0, float(batches - 1)));
    const uint plane = batch_number * image_strides.x + numbers.y * image_strides.y;
    const uint2 rows = part_of(numbers.x, 2, numbers.z, pooled_height, height);
    const uint2 columns = part_of(numbers.x, 1, numbers.w, pooled_width, width);
    State state = nothing(0);
    // Zeros of both signs are equal: the first one counts, but keys do not tell which it is.
    const uint magnitude_bits = MASK_OF(packing) >> 1;
    uint zero = 0;
    bool any_zero = false;
    [loop] for (uint y = rows.x; y < rows.y; ++y) {
        [loop] for (uint x = columns.x; x < columns.y; ++x) {
            const uint offset = plane + y * image_strides.z + x * image_strides.w;
            const uint bits = LOAD(source, offset);
            see(state, offset, 0, 0);
            if (!any_zero && (bits & magnitude_bits) == 0) {
                any_zero = true;
                zero = bits;
            }
        }
    }
    const bool any = rows.x < rows.y && columns.x < columns.y;
    const uint largest = any ? bits_of_key(state.key) : 0;
    PUT(TARGET_OFFSET, (largest & magnitude_bits) == 0 ? zero : largest)
    return result;
}

#else

#include "shaders/resampling/interpolation.hlsli"
#include "shaders/regions/region_axes.hlsli"

uint plane_of(uint batch, uint channel) {
    return batch * image_strides.x + channel * image_strides.y;
}

// Batch indices out of range refer to the last batch.
uint batch_of(uint region) {
    const uint batch = batch_indices[region * region_strides.z * index_words];
    return min(batch, batches - 1);
}

float element_at(uint plane, uint y, uint x) {
    return REAL(source, plane + y * image_strides.z + x * image_strides.w);
}

// The samples of a forward output: their plane, and the first sample along each axis of the region.
struct Samples {
    uint plane;
    Axis axis_y;
    Axis axis_x;
    uint first_y;
    uint first_x;
};

Samples samples_of(uint4 numbers) {
    Samples samples;
    samples.plane = plane_of(batch_of(numbers.x), numbers.y);
    samples.axis_y = axis_of(numbers.x, 1);
    samples.axis_x = axis_of(numbers.x, 0);
    samples.first_y = numbers.z * samples.axis_y.samples;
    samples.first_x = numbers.w * samples.axis_x.samples;
    return samples;
}

float count_of(Samples samples) {
    return float(samples.axis_y.samples) * float(samples.axis_x.samples);
}

float sample_at(Samples samples, uint y, uint x) {
    const float position_y = position_of(samples.axis_y, samples.first_y + y);
    const float position_x = position_of(samples.axis_x, samples.first_x + x);
    float result = outside_value;
    if (is_inside(samples.axis_y, position_y) && is_inside(samples.axis_x, position_x)) {
        const Neighbours rows = neighbours_of(samples.axis_y, position_y);
        const Neighbours columns = neighbours_of(samples.axis_x, position_x);
        const float above = between(element_at(samples.plane, rows.first, columns.first),
                                    element_at(samples.plane, rows.first, columns.second), columns.distance);
        const float below = between(element_at(samples.plane, rows.second, columns.first),
                                    element_at(samples.plane, rows.second, columns.second), columns.distance);
        result = between(above, below, rows.distance);
    }
    return result;
}

// The index of the forward output with these coordinates.
uint output_number(uint region, uint channel, uint y, uint x) {
    return ((region * channels + channel) * pooled_height + y) * pooled_width + x;
}

float gradient_at(uint region, uint channel, uint y, uint x) {
    return REAL(gradients, region * gradient_strides.x + channel * gradient_strides.y + y * gradient_strides.z +
                               x * gradient_strides.w);
}

#if MAKES == MAKES_ALIGNED || MAKES == MAKES_CHOSEN

// A number is larger than NaN, and the first of equal numbers counts.
bool is_larger(float x, float most) {
    return !is_nan(x) && (is_nan(most) || order_of(x).x > order_of(most).x);
}

uint make(uint number) {
    uint result = 0;
    STRIDED_OFFSETS(offsets, REGION_ROWS, number, dimensions, dimension_count)
    const uint4 numbers = NUMBERS;
    const Samples samples = samples_of(numbers);
    float sum = 0;
    float most = 0;
    uint best = 0;
    [loop] for (uint y = 0; y < samples.axis_y.samples; ++y) {
        [loop] for (uint x = 0; x < samples.axis_x.samples; ++x) {
            const float value = sample_at(samples, y, x);
            const uint sample_number = y * samples.axis_x.samples + x;
            sum += value;
            if (sample_number == 0 || is_larger(value, most)) {
                most = value;
                best = sample_number;
            }
        }
    }
#if MAKES == MAKES_CHOSEN
    target[number] = best;
#else
    const float made = takes_largest != 0 ? most : divide_exactly(float4(sum, 0, 0, 0), count_of(samples)).x;
    PUT(TARGET_OFFSET, bits_from(made))
#endif
    return result;
}

#elif MAKES == MAKES_GRADIENT

// The samples from x to y - 1, among which are all those next to the element. Includes some more, because of rounding.
uint2 samples_near(Axis axis, uint element) {
    const float last = float(axis.outputs) * float(axis.samples) - 1;
    const float before = (float(element) - 1 - axis.start) / axis.step + output_offset;
    const float behind = (float(element) + 1 - axis.start) / axis.step + output_offset;
    const bool anywhere = axis.step == 0 || is_nan(before) || is_nan(behind);
    const float begin = anywhere ? 0 : clamp(floor(min(before, behind)) - 2, 0, last + 1);
    const float end = anywhere ? last + 1 : clamp(ceil(max(before, behind)) + 3, 0, last + 1);
    return uint2(uint(begin), uint(end));
}

// The element's weight in a sample.
float weight_of(Axis axis, uint sample_number, uint element) {
    const float position = position_of(axis, sample_number);
    const Neighbours neighbours = neighbours_of(axis, position);
    const float weight = (neighbours.first == element ? 1 - neighbours.distance : 0) +
                         (neighbours.second == element ? neighbours.distance : 0);
    return is_inside(axis, position) ? weight : 0;
}

uint make(uint number) {
    uint result = 0;
    STRIDED_OFFSETS(offsets, REGION_ROWS, number, dimensions, dimension_count)
    const uint4 numbers = NUMBERS;
    float sum = 0;
    [loop] for (uint region = 0; region < region_count; ++region) {
        if (batch_of(region) == numbers.x) {
            const Axis axis_y = axis_of(region, 1);
            const Axis axis_x = axis_of(region, 0);
            const uint2 rows = samples_near(axis_y, numbers.z);
            const uint2 columns = samples_near(axis_x, numbers.w);
            const float count = float(axis_y.samples) * float(axis_x.samples);
            [loop] for (uint y = rows.x; y < rows.y; ++y) {
                const float weight_y = weight_of(axis_y, y, numbers.z);
                const uint output_y = y / axis_y.samples;
                [loop] for (uint x = columns.x; x < columns.y && weight_y != 0; ++x) {
                    const float weight_x = weight_of(axis_x, x, numbers.w);
                    const float weight = weight_y * weight_x;
                    const uint output_x = x / axis_x.samples;
                    // A row's weight may be NaN. That is nothing to the elements beside the sample's columns.
                    bool counts = weight_x != 0 && weight != 0;
                    float divisor = count;
                    if (takes_largest != 0) {
                        const uint sample_number =
                            (y - output_y * axis_y.samples) * axis_x.samples + x - output_x * axis_x.samples;
                        counts = counts &&
                                 chosen[output_number(region, numbers.y, output_y, output_x)] == sample_number;
                        divisor = 1;
                    }
                    if (counts) {
                        const float part = weight * gradient_at(region, numbers.y, output_y, output_x);
                        sum += divide_exactly(float4(part, 0, 0, 0), divisor).x;
                    }
                }
            }
        }
    }
    PUT(TARGET_OFFSET, bits_from(sum))
    return result;
}

#else

// The derivatives of a sample with respect to its x and y position.
float2 slopes_at(Samples samples, uint y, uint x) {
    const float position_y = position_of(samples.axis_y, samples.first_y + y);
    const float position_x = position_of(samples.axis_x, samples.first_x + x);
    float2 slopes = 0;
    if (is_inside(samples.axis_y, position_y) && is_inside(samples.axis_x, position_x)) {
        const float last_y = float(samples.axis_y.size - 1);
        const float last_x = float(samples.axis_x.size - 1);
        const float distance_y = position_y - floor(position_y);
        const float distance_x = position_x - floor(position_x);
        const uint top = uint(clamp(floor(position_y), 0, last_y));
        const uint bottom = uint(clamp(floor(position_y) + 1, 0, last_y));
        const uint left = uint(clamp(floor(position_x), 0, last_x));
        const uint right = uint(clamp(floor(position_x) + 1, 0, last_x));
        const float top_left = element_at(samples.plane, top, left);
        const float top_right = element_at(samples.plane, top, right);
        const float bottom_left = element_at(samples.plane, bottom, left);
        const float bottom_right = element_at(samples.plane, bottom, right);
        slopes.x = (1 - distance_y) * (top_right - top_left) + distance_y * (bottom_right - bottom_left);
        slopes.y = (1 - distance_x) * (bottom_left - top_left) + distance_x * (bottom_right - top_right);
    }
    return slopes;
}

// The derivatives of a sample's position with respect to the region's start and end.
float2 shares_of(Axis axis, uint number) {
    const float size = float(axis.size) - (aligns_corners != 0 ? 1 : 0);
    const float count = float(axis.outputs) * float(axis.samples);
    const float steps = aligns_corners != 0 ? count - 1 : count;
    const float share = steps == 0 ? size * 0.5 : divide_exactly(float4(float(number) * size, 0, 0, 0), steps).x;
    return float2(size - share, share);
}

// Each forward output has one number for each coordinate; their distance is the number of outputs of a region.
uint make(uint number) {
    STRIDED_OFFSETS(offsets, REGION_ROWS, number, dimensions, dimension_count)
    const uint4 numbers = NUMBERS;
    const Samples samples = samples_of(numbers);
    float2 slopes = 0;
    if (takes_largest != 0) {
        const uint best = chosen[number];
        const uint best_y = best / samples.axis_x.samples;
        slopes = slopes_at(samples, best_y, best - best_y * samples.axis_x.samples);
    } else {
        [loop] for (uint y = 0; y < samples.axis_y.samples; ++y) {
            [loop] for (uint x = 0; x < samples.axis_x.samples; ++x) {
                slopes += slopes_at(samples, y, x);
            }
        }
        slopes = divide_exactly(float4(slopes, 0, 0), count_of(samples)).xy;
    }
    slopes = slopes * gradient_at(numbers.x, numbers.y, numbers.z, numbers.w);
    const float2 shares_x = shares_of(samples.axis_x, numbers.w);
    const float2 shares_y = shares_of(samples.axis_y, numbers.z);
    const uint outputs = channels * pooled_height * pooled_width;
    const uint offset = numbers.x * 4 * outputs + (number - numbers.x * outputs);
    target[offset] = asuint(slopes.x * shares_x.x);
    target[offset + outputs] = asuint(slopes.y * shares_y.x);
    target[offset + 2 * outputs] = asuint(slopes.x * shares_x.y);
    target[offset + 3 * outputs] = asuint(slopes.y * shares_y.y);
    return 0;
}

#endif
#endif

#include "shaders/common/element_threads.hlsli"

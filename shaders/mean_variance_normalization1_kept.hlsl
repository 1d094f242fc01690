// MEAN_VARIANCE_NORMALIZATION and its successors, for sets whose elements fit into the registers of a group's threads:
// one or several sets for each group, read once and normalised. A set is one stretch of memory in input and output.
//
// Each thread finds mean and squared deviations of its own elements, and then these are brought together, first over
// rows of a set's threads, then over columns (Chan, Golub & LeVeque 1983). The order depends on nothing but sizes.
//
// KEPT                how many items a thread keeps
// READS_UNITS         1: the device can read 16 bytes at once
// VECTOR              1
// HALF, FUSED         see mean_variance_normalization1.hlsli

#include "mean_variance_normalization1.hlsli"

// Of some elements of a set: their mean, what the squares of their distances from it sum up to, what the distances do
// (0, but for the mean's roundings), and how many they are.
#define Part float4

groupshared Part parts[GROUP_SIZE];
// The first of each part's elements, or NaN if the others are not all equal to it.
groupshared float equal_elements[GROUP_SIZE];

// Of parts number `first`, `first` + `distance` and so on. Four at a time, so that a thread waits once for them.
Part joined(uint first, uint distance, uint count) {
    float2 total = 0;
    uint i;
    uint j;
    [loop] for (i = 0; i < count; i += 4) {
        [unroll] for (j = 0; j < 4; ++j) {
            const Part part = parts[first + min(i + j, count - 1) * distance];
            total += i + j < count ? float2(part.x * part.w, part.w) : 0;
        }
    }
    const float mean = subtract_mean && total.y > 0 ? total.x / total.y : 0;
    float2 sums = 0;
    [loop] for (i = 0; i < count; i += 4) {
        [unroll] for (j = 0; j < 4; ++j) {
            const Part part = parts[first + min(i + j, count - 1) * distance];
            const float away = part.x - mean;
            const float weighted = away * part.w;
            sums += i + j < count ? float2(part.y + away * (weighted + 2 * part.z), weighted + part.z) : 0;
        }
    }
    return Part(mean, sums.x, sums.y, total.y);
}

float joined_equal(uint first, uint distance, uint count) {
    const float element = equal_elements[first];
    bool equal = true;
    [loop] for (uint i = 1; i < count; ++i) {
        equal = equal && equal_elements[first + i * distance] == element;
    }
    return equal ? element : asfloat(0x7fc00000);
}

// Over the threads of a set. All of them get the result.
Part over_set(Part part, inout float equal, uint thread, uint lane) {
    const uint rows = threads_per_set / columns_per_set;
    parts[thread] = part;
    equal_elements[thread] = equal;
    GroupMemoryBarrierWithGroupSync();
    if (rows > 1) {
        if (lane < columns_per_set) {
            const Part column = joined(thread, columns_per_set, rows);
            equal = joined_equal(thread, columns_per_set, rows);
            parts[thread] = column;
            equal_elements[thread] = equal;
        }
        GroupMemoryBarrierWithGroupSync();
    }
    equal = joined_equal(thread - lane, 1, columns_per_set);
    return joined(thread - lane, 1, columns_per_set);
}

// Of the first `count` items that a thread keeps.
Part own_part(uint4 kept[KEPT], uint count, out float equal) {
    const float element_count = float(count) * (HALF ? 8 : 4);
    float4 total = 0;
    uint k;
    [unroll] for (k = 0; k < KEPT; ++k) {
        total += k < count ? first_numbers(kept[k]) + second_numbers(kept[k]) : 0;
    }
    const float mean = subtract_mean && count > 0 ? sum_of(total) / element_count : 0;
    const float first = first_numbers(kept[0]).x;
    float4 sums = 0;
    float4 squares = 0;
    bool4 unequal = false;
    [unroll] for (k = 0; k < KEPT; ++k) {
        if (k < count) {
            const float4 numbers = first_numbers(kept[k]);
            sums += numbers - mean;
            squares += (numbers - mean) * (numbers - mean);
            unequal = unequal || numbers != first;
#if TWO_VECTORS
            const float4 others = second_numbers(kept[k]);
            sums += others - mean;
            squares += (others - mean) * (others - mean);
            unequal = unequal || others != first;
#endif
        }
    }
    equal = any(unequal) ? asfloat(0x7fc00000) : first;
    return Part(mean, sum_of(squares), sum_of(sums), element_count);
}

// From the parts of a set to what its elements are normalised with.
float4 statistics_of(Part part, float equal) {
    // Equal elements have themselves as their mean, whatever the roundings, and variance 0.
    const bool constant = subtract_mean && equal == equal;
    // An infinite mean lacks nothing: all finite numbers are as far below (or above) it.
    const float lacking = !subtract_mean || constant || is_infinite(part.x) ? 0 : part.z / part.w;
    const float squares = part.y - part.z * lacking;
    // Not by max, which would make a number of NaN.
    return finished(constant ? equal : part.x, lacking, constant || squares < 0 ? 0 : squares);
}

// Unit number k of a thread's.
#define UNIT_OF(buffer, start, step) buffer[((start) + k * (step)) / PARAMETERS_PER_ITEM]

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint lane = thread & (threads_per_set - 1);
    const uint set = linear_group(group_id) * sets_per_group + (thread >> set_shift);
    Place place = place_of_set(min(set, set_count - 1));
    const uint4 step = item_dimensions[0] * threads_per_set;
    const uint4 parameter_step = item_parameters[0] * threads_per_set;
    uint4 kept[KEPT];
    uint k;
    // All loads come first, so that a thread waits once for all of them. What is not there is some other item.
    [unroll] for (k = 0; k < KEPT; ++k) {
        kept[k] = input[place.input + min(lane + k * threads_per_set, item_count - 1)];
    }
    const uint count = lane < item_count ? min((item_count - 1 - lane) >> set_shift, KEPT - 1) + 1 : 0;
    float4 set_scale = 1;
    float4 set_bias = 0;
    [branch] if (has_scale == PARAMETERS_OF_SETS) {
        set_scale = ONE_PARAMETER(scale, place.scale);
    }
    [branch] if (has_bias == PARAMETERS_OF_SETS) {
        set_bias = ONE_PARAMETER(bias, place.bias);
    }
    add_place(place, lane, item_dimensions[0], item_parameters[0]);
    float equal;
    const Part own = own_part(kept, count, equal);
    const Part whole = over_set(own, equal, thread, lane);
    const float4 set_statistics = statistics_of(whole, equal);
    if (set >= set_count) {
        return;
    }
#if !FUSED
    [branch] if (has_scale != PARAMETERS_ANYWHERE && has_bias != PARAMETERS_ANYWHERE) {
        [unroll] for (k = 0; k < KEPT; ++k) {
            if (k < count) {
                float4 first_scale = set_scale;
                float4 second_scale = set_scale;
                float4 first_bias = set_bias;
                float4 second_bias = set_bias;
                [branch] if (has_scale == PARAMETERS_IN_UNITS) {
                    const uint4 unit = UNIT_OF(scale_units, place.scale, parameter_step.x);
                    first_scale = first_numbers(unit);
                    second_scale = second_numbers(unit);
                }
                [branch] if (has_bias == PARAMETERS_IN_UNITS) {
                    const uint4 unit = UNIT_OF(bias_units, place.bias, parameter_step.y);
                    first_bias = first_numbers(unit);
                    second_bias = second_numbers(unit);
                }
                output[place.output + k * step.z] =
                    normalised_numbers(first_numbers(kept[k]), second_numbers(kept[k]), set_statistics, first_scale,
                                       second_scale, first_bias, second_bias);
            }
        }
        return;
    }
#endif
    // With activations, or parameters that are gathered, the code is too long to have it for each item: they are read
    // again, from a cache.
    [loop] for (k = 0; k < count; ++k) {
        const uint4 item = input[place.input];
        output[place.output] = normalised_item(first_numbers(item), second_numbers(item), set_statistics, place);
        add_place(place, 1, step, parameter_step);
    }
}

// MEAN_VARIANCE_NORMALIZATION and its successors: a group reads several small sets, one set, or a chunk of one, and
// finds mean and variance in two passes over what it keeps in groupshared memory.
//
// APPLY  1: and normalises them, as sets fit groups. 0: and leaves the statistics for another pass.
//
// VECTOR, HALF, FUSED: see mean_variance_normalization1.hlsli

#include "mean_variance_normalization1.hlsli"

#if VECTOR
#define ITEMS_PER_THREAD 4
#else
#define ITEMS_PER_THREAD 16
#endif

// Item number j of thread t is at j * GROUP_SIZE + t.
groupshared Item items[ITEMS_PER_THREAD * GROUP_SIZE];
groupshared float3 partial_sums[GROUP_SIZE];
groupshared float first_elements[GROUP_SIZE];

// Of `count` partial sums, a power of two, from one on. Four at a time, so that a thread waits once for all of them.
float3 sum_of_partial(uint first, uint distance, uint count) {
    float3 sum = 0;
    [loop] for (uint i = 0; i < count; i += 4) {
        const float3 sum_0 = partial_sums[first + i * distance];
        const float3 sum_1 = partial_sums[first + min(i + 1, count - 1) * distance];
        const float3 sum_2 = partial_sums[first + min(i + 2, count - 1) * distance];
        const float3 sum_3 = partial_sums[first + min(i + 3, count - 1) * distance];
        sum += sum_0 + (count > 1 ? sum_1 : 0) + (count > 2 ? sum_2 + sum_3 : 0);
    }
    return sum;
}

// Sums over the threads of a set, in two steps: first over those that have their place within columns, then over
// columns. The
// order depends on nothing but their number.
float3 sum_over_set(float3 value, uint thread, uint lane, uint lane_distance) {
    const uint rows = threads_per_set / columns_per_set;
    const uint first = thread - lane * lane_distance;
    partial_sums[thread] = value;
    GroupMemoryBarrierWithGroupSync();
    if (rows > 1) {
        if (lane < columns_per_set) {
            partial_sums[thread] = sum_of_partial(thread, columns_per_set * lane_distance, rows);
        }
        GroupMemoryBarrierWithGroupSync();
    }
    const float3 result = sum_of_partial(first, lane_distance, columns_per_set);
    GroupMemoryBarrierWithGroupSync();
    return result;
}

// Zero bits are the number 0 in all types.
Item item_or_zero(Place set_place, uint item, uint last_item) {
    const Item loaded = load_item(place_of_item(set_place, min(item, max(last_item, 1) - 1)).input);
    return item < last_item ? loaded : (Item)0;
}

float4 numbers_together(Item item) {
    return first_numbers(item) + second_numbers(item);
}

// Sums over the items of a thread.
struct Deviations {
    float4 sums;
    float4 squares;
    float4 unequal;
};

void add_deviations(inout Deviations deviations, float4 numbers, float4 others, float mean, float first) {
    deviations.sums += numbers - mean;
    deviations.squares += (numbers - mean) * (numbers - mean);
    deviations.unequal += numbers != first ? 1.0 : 0.0;
#if TWO_VECTORS
    deviations.sums += others - mean;
    deviations.squares += (others - mean) * (others - mean);
    deviations.unequal += others != first ? 1.0 : 0.0;
#endif
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint chunk = linear_group(group_id) % chunk_count;
    const uint lane = sets_side_by_side ? thread / sets_per_group : thread % threads_per_set;
    const uint lane_distance = sets_side_by_side ? sets_per_group : 1;
    const uint set_in_group = sets_side_by_side ? thread % sets_per_group : thread / threads_per_set;
    const uint set = linear_group(group_id) / chunk_count * sets_per_group + set_in_group;
    const uint first_item = chunk * items_per_chunk;
    const uint last_item = set < set_count ? min(first_item + items_per_chunk, item_count) : first_item;
    const Place set_place = place_of_set(min(set, set_count - 1));
    uint i;

    float4 sum = 0;
    // Four at a time, so that a thread waits once for all of them.
    uint slot = thread;
    [loop] for (i = first_item + lane; i < last_item; i += 4 * threads_per_set) {
        const Item item_0 = item_or_zero(set_place, i, last_item);
        const Item item_1 = item_or_zero(set_place, i + threads_per_set, last_item);
        const Item item_2 = item_or_zero(set_place, i + 2 * threads_per_set, last_item);
        const Item item_3 = item_or_zero(set_place, i + 3 * threads_per_set, last_item);
        items[slot] = item_0;
        items[slot + GROUP_SIZE] = item_1;
        items[slot + 2 * GROUP_SIZE] = item_2;
        items[slot + 3 * GROUP_SIZE] = item_3;
        slot += 4 * GROUP_SIZE;
        sum += (numbers_together(item_0) + numbers_together(item_1)) +
               (numbers_together(item_2) + numbers_together(item_3));
    }
    first_elements[thread] = first_numbers(items[thread]).x;
#if VECTOR
    const float elements_per_item = HALF ? 8 : 4;
#else
    const float elements_per_item = 1;
#endif
    const float count = elements_per_item * float(last_item - first_item);
    const float total = sum_over_set(float3(sum_of(sum), 0, 0), thread, lane, lane_distance).x;
    const float mean = subtract_mean ? total / count : 0;

    // Deviations sum to 0, but for what the mean lacks by its roundings ("corrected two-pass algorithm": Chan, Golub &
    // LeVeque 1983).
    const float first = first_elements[thread - lane * lane_distance];
    Deviations deviations = (Deviations)0;
    slot = thread;
    [loop] for (i = first_item + lane; i < last_item; i += threads_per_set) {
        add_deviations(deviations, first_numbers(items[slot]), second_numbers(items[slot]), mean, first);
        slot += GROUP_SIZE;
    }
    const float3 sums =
        sum_over_set(float3(sum_of(deviations.sums), sum_of(deviations.squares), sum_of(deviations.unequal)), thread,
                     lane, lane_distance);
    // The mean of equal numbers is that number, whatever the roundings, and their variance 0.
    const bool constant = subtract_mean && sums.z == 0;
    // An infinite mean lacks nothing: all finite numbers are as far below (or above) it.
    const float lacking = !subtract_mean || constant || is_infinite(mean) ? 0 : sums.x / count;
    const float corrected = sums.y - sums.x * lacking;
    // Not by max, which would make a number of NaN.
    const float4 found =
        float4(constant ? first : mean, lacking, constant || corrected < 0 ? 0 : corrected, count);

#if APPLY
    const float4 set_statistics = finished(found.x, found.y, found.z);
    // With activations the code is too long to have it for each item that is kept: these are read again, from a cache.
    slot = thread;
    [loop] for (i = first_item + lane; i < last_item; i += threads_per_set) {
        const Place place = place_of_item(set_place, i);
        const Item item = items[slot];
        slot += GROUP_SIZE;
        output[place.output] = normalised_item(first_numbers(item), second_numbers(item), set_statistics, place);
    }
#else
    if (lane == 0 && set < set_count) {
        if (chunk_count == 1) {
            statistics[set] = finished(found.x, found.y, found.z);
        } else {
            chunks[set * chunk_count + chunk] = found;
        }
    }
#endif
}

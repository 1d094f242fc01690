// MEAN_VARIANCE_NORMALIZATION and its successors, for normalisation groups ("sets") that are not lines of whole
// vectors. A thread group reads several small sets, one set, or a chunk of one, and computes mean and variance in two
// passes over its copy in groupshared memory.
//
// APPLY  1: also normalises the sets, which must fit thread groups. 0: writes the statistics for another pass.
//
// HALF, FUSED: see mean_variance_normalization1.hlsli

#define VECTOR 0
#include "shaders/normalisation/mean_variance_normalization1.hlsli"

// Item j of thread t is at j * GROUP_SIZE + t.
groupshared Item items[NORMALIZATION_PER_THREAD * GROUP_SIZE];
groupshared float3 partial_sums[GROUP_SIZE];
groupshared float first_elements[GROUP_SIZE];

SUM_OVER_THREADS(sum_of_partial, float3, partial_sums)

// What a thread works on: every `threads_per_set`th item of a set, or of a chunk of it.
struct Work {
    uint chunk;
    uint set;
    uint thread;
    uint lane;           // the thread's index in its set
    uint lane_distance;  // between the threads of a set
    uint first_thread;   // of the set
    uint first_item;     // of the chunk
    uint last_item;      // where the chunk ends; first_item if there is no such set
};

Work work_of(uint group, uint thread) {
    const uint set_in_group = sets_side_by_side ? thread % sets_per_group : thread / threads_per_set;
    Work work;
    work.chunk = group % chunk_count;
    work.set = group / chunk_count * sets_per_group + set_in_group;
    work.thread = thread;
    work.lane = sets_side_by_side ? thread / sets_per_group : thread % threads_per_set;
    work.lane_distance = sets_side_by_side ? sets_per_group : 1;
    work.first_thread = thread - work.lane * work.lane_distance;
    const uint first_item = work.chunk * items_per_chunk;
    work.first_item = first_item;
    work.last_item = work.set < set_count ? min(first_item + items_per_chunk, item_count) : first_item;
    return work;
}

// Sums over the threads of a set in two steps: over threads with the same column, then over columns. The order depends
// only on their number.
float3 sum_over_set(float3 value, Work work) {
    const uint thread = work.thread;
    partial_sums[thread] = value;
    GroupMemoryBarrierWithGroupSync();
    if (rows_per_set > 1) {
        if (work.lane < columns_per_set) {
            partial_sums[thread] = sum_of_partial(thread, columns_per_set * work.lane_distance, rows_per_set);
        }
        GroupMemoryBarrierWithGroupSync();
    }
    const float3 result = sum_of_partial(work.first_thread, work.lane_distance, columns_per_set);
    GroupMemoryBarrierWithGroupSync();
    return result;
}

// Zero bits represent 0 in all types.
Item item_or_zero(Offsets set_offsets, uint item, uint last_item) {
    const Item loaded = load_item(offsets_of_item(set_offsets, min(item, max(last_item, 1) - 1)).input);
    return item < last_item ? loaded : (Item)0;
}

float number_of(Item item) {
    return first_numbers(item).x;
}

// Copies a thread's items, and returns their sum. Four at a time, so that the loads overlap.
float copy_items(Work work, Offsets set_offsets) {
    const uint last_item = work.last_item;
    uint slot = work.thread;
    float sum = 0;
    [loop] for (uint i = work.first_item + work.lane; i < last_item; i += 4 * threads_per_set) {
        const Item item_0 = item_or_zero(set_offsets, i, last_item);
        const Item item_1 = item_or_zero(set_offsets, i + threads_per_set, last_item);
        const Item item_2 = item_or_zero(set_offsets, i + 2 * threads_per_set, last_item);
        const Item item_3 = item_or_zero(set_offsets, i + 3 * threads_per_set, last_item);
        items[slot] = item_0;
        items[slot + GROUP_SIZE] = item_1;
        items[slot + 2 * GROUP_SIZE] = item_2;
        items[slot + 3 * GROUP_SIZE] = item_3;
        slot += 4 * GROUP_SIZE;
        sum += (number_of(item_0) + number_of(item_1)) + (number_of(item_2) + number_of(item_3));
    }
    return sum;
}

// Sums of a thread's deviations from the mean, and of their squares, and the number of elements that differ from the
// first one.
float3 deviations_of(Work work, float mean, float first) {
    uint slot = work.thread;
    float3 deviations = 0;
    [loop] for (uint i = work.first_item + work.lane; i < work.last_item; i += threads_per_set) {
        const float number = number_of(items[slot]);
        deviations += float3(number - mean, (number - mean) * (number - mean), number != first ? 1.0 : 0.0);
        slot += GROUP_SIZE;
    }
    return deviations;
}

#if APPLY
void normalise_items(Work work, Offsets set_offsets, float4 set_statistics) {
    uint slot = work.thread;
    [loop] for (uint i = work.first_item + work.lane; i < work.last_item; i += threads_per_set) {
        const Offsets offsets = offsets_of_item(set_offsets, i);
        const Item item = items[slot];
        slot += GROUP_SIZE;
        output[offsets.output] = normalised_item(first_numbers(item), second_numbers(item), set_statistics, offsets);
    }
}
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id), thread);
    const Offsets set_offsets = offsets_of_set(min(work.set, set_count - 1));
    const float sum = copy_items(work, set_offsets);
    first_elements[thread] = number_of(items[thread]);
    const float count = float(work.last_item - work.first_item);
    const float total = sum_over_set(float3(sum, 0, 0), work).x;
    const float mean = subtract_mean ? total / count : 0;
    const float first = first_elements[work.first_thread];
    const float3 sums = sum_over_set(deviations_of(work, mean, first), work);
    const float4 part = found(mean, sums.x, sums.y, count, sums.z != 0, first);
#if APPLY
    normalise_items(work, set_offsets, finished(part.x, part.y, part.z));
#else
    if (work.lane == 0 && work.set < set_count) {
        if (chunk_count == 1) {
            statistics[work.set] = finished(part.x, part.y, part.z);
        } else {
            chunks[work.set * chunk_count + work.chunk] = part;
        }
    }
#endif
}

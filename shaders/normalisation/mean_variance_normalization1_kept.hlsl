// MEAN_VARIANCE_NORMALIZATION and its successors, for sets that are lines of whole vectors: equidistant segments of
// memory in input and output.
//
// A thread group keeps one or several sets, or a chunk of one, in the registers of its threads. It has one of these
// tasks:
//
// TASK_NORMALIZE_SETS    computes the statistics of its sets, and normalises them.
// TASK_FIND_CHUNKS       computes the statistics of a chunk, for another dispatch.
// TASK_APPLY_CHUNKS      merges the statistics of a set's chunks, and normalises one of these.
// TASK_APPLY_STATISTICS  normalises a chunk with statistics that another dispatch has merged.
//
// Mean and variance take two passes over the registers. Each sums over the rows of a set's threads first, then over
// columns. The order depends only on sizes.
//
// KEPT                how many items a thread keeps
// READS_UNITS         how 16 bytes are read: see device_variants.hlsli
// HALF, FUSED         see mean_variance_normalization1.hlsli

#define VECTOR 1
#include "shaders/normalisation/mean_variance_normalization1.hlsli"

// The maximum number of items is only used for sets that consist of a single line: computing addresses across lines
// needs registers that such threads do not have left.
#if KEPT == NORMALIZATION_KEPT_MOST
#define ONE_LINE 1
#define TASK TASK_NORMALIZE_SETS
#else
#define ONE_LINE 0
#define TASK task
#endif

// Separate arrays, so that a pass need not wait until the preceding one has been read.
groupshared float totals[GROUP_SIZE];
groupshared float2 deviations[GROUP_SIZE];
groupshared uint first_bits[GROUP_SIZE];
// At the first thread of a set: whether its elements differ.
groupshared uint differs[GROUP_SIZE];

SUM_OVER_THREADS(sum_of_totals, float, totals)
SUM_OVER_THREADS(sum_of_deviations, float2, deviations)

// Defines a function that sums one value over the threads of a set. All threads get the result.
#define SUM_OVER_SET(name, Sum, array, sum_over_threads)                                \
    Sum name(Sum value, uint thread, uint lane) {                                       \
        array[thread] = value;                                                          \
        GroupMemoryBarrierWithGroupSync();                                              \
        if (rows_per_set > 1) {                                                         \
            if (lane < columns_per_set) {                                               \
                array[thread] = sum_over_threads(thread, columns_per_set, rows_per_set);\
            }                                                                           \
            GroupMemoryBarrierWithGroupSync();                                          \
        }                                                                               \
        return sum_over_threads(thread - lane, 1, columns_per_set);                     \
    }

SUM_OVER_SET(total_over_set, float, totals, sum_of_totals)
SUM_OVER_SET(deviations_over_set, float2, deviations, sum_of_deviations)

// The bits of an item's first element, and an item that repeats this element.
#if HALF
#define FIRST_BITS(item) ((item).x & 0xffff)
#define REPEATED(bits) ((bits) * 0x10001)
#else
#define FIRST_BITS(item) ((item).x)
#define REPEATED(bits) (bits)
#endif

float total_of(uint4 kept[KEPT], uint count) {
    float4 total = 0;
    [unroll] for (uint k = 0; k < KEPT; ++k) {
        if (k < count) {
            total += first_numbers(kept[k]) + second_numbers(kept[k]);
        }
    }
    return sum_of(total);
}

// Sums of the deviations from the mean, and of their squares. `difference` becomes non-zero if an element's bits differ
// from the first one's.
float2 deviations_of(uint4 kept[KEPT], uint count, float mean, uint bits, out uint difference) {
    float4 sums = 0;
    float4 squares = 0;
    uint4 differences = 0;
    [unroll] for (uint k = 0; k < KEPT; ++k) {
        if (k < count) {
            const float4 numbers = first_numbers(kept[k]);
            sums += numbers - mean;
            squares += (numbers - mean) * (numbers - mean);
#if TWO_VECTORS
            const float4 others = second_numbers(kept[k]);
            sums += others - mean;
            squares += (others - mean) * (others - mean);
#endif
            differences |= kept[k] ^ REPEATED(bits);
        }
    }
    difference = differences.x | differences.y | differences.z | differences.w;
    return float2(sum_of(sums), sum_of(squares));
}

// The line of an item of a set, and its index in the line.
uint2 item_number(uint number) {
#if ONE_LINE
    return uint2(0, number);
#else
    return uint2(number / item_dimensions[0].x, number % item_dimensions[0].x);
#endif
}

uint2 next_item(uint2 item) {
#if ONE_LINE
    return uint2(0, item.y + step_items);
#else
    item += uint2(step_lines, step_items);
    const bool beyond = item.y >= item_dimensions[0].x;
    return uint2(beyond ? item.x + 1 : item.x, beyond ? item.y - item_dimensions[0].x : item.y);
#endif
}

Offsets offsets_in_lines(Offsets set, uint2 item) {
    Offsets offsets = set;
    add_offsets(offsets, item.y, item_dimensions[0], item_parameters[0]);
#if !ONE_LINE
    add_offsets(offsets, item.x, item_dimensions[1], item_parameters[1]);
#endif
    return offsets;
}

// What a thread works on: every `threads_per_set`th item of a set, or of a chunk of it.
struct Work {
    uint group;
    uint set;
    uint thread;
    uint lane;    // the thread's index in its set
    uint items;   // of the set, or of the chunk
    uint count;   // items of the thread
    uint2 first;  // the first of them
};

Work work_of(uint group, uint thread) {
    const bool applies = TASK == TASK_APPLY_CHUNKS || TASK == TASK_APPLY_STATISTICS;
    Work work;
    // In reverse order if a preceding dispatch has read the same data: what it read last is still in a cache.
    work.group = applies ? group_count - 1 - group : group;
    work.set = work.group / chunk_count * sets_per_group + (thread >> set_shift);
    work.thread = thread;
    work.lane = thread & (threads_per_set - 1);
    const uint first_item = min(work.group % chunk_count * items_per_chunk, item_count - 1);
    work.items = min(item_count - first_item, items_per_chunk);
    work.count = work.lane < work.items ? ((work.items - 1 - work.lane) >> set_shift) + 1 : 0;
    work.first = item_number(first_item + min(work.lane, work.items - 1));
    return work;
}

// Loads all items first, so that the loads overlap. Missing items are replaced by others.
void load_kept(inout uint4 kept[KEPT], Work work, uint set_offset) {
    uint2 item = work.first;
    [unroll] for (uint k = 0; k < KEPT; ++k) {
        const uint2 there = k < work.count ? item : work.first;
        kept[k] = input[set_offset + there.y + there.x * item_dimensions[1].y];
        item = next_item(item);
    }
}

// The statistics of a set or chunk: mean, the mean's error, sum of squared deviations, number of elements. Computed
// from the sum of its elements, or by joining the statistics of the chunks of `whole_set`.
float4 statistics_of(uint4 kept[KEPT], Work work, uint whole_set) {
    const bool joins = TASK == TASK_APPLY_CHUNKS;
    const bool has_part = joins && work.thread < chunk_count;
    float4 part = 0;
    if (has_part) {
        part = chunks[whole_set * chunk_count + work.thread];
    }
    const float number = joins ? set_size : float(work.items) * PARAMETERS_PER_ITEM;
    // Means are weighted by size, so that their sum is the total mean.
    const float total = joins ? part.x * (part.w / number) : total_of(kept, work.count);
    const uint thread = work.thread;
    const uint first_thread = thread - work.lane;
    first_bits[thread] = joins ? asuint(part.x) : FIRST_BITS(kept[0]);
    differs[thread] = 0;
    const float whole = total_over_set(total, thread, work.lane);
    const float mean = subtract_mean == 0 ? 0 : joins ? whole : whole / number;

    const uint bits = first_bits[first_thread];
    float2 own;
    uint difference = 0;
    [branch] if (joins) {
        // All elements of a part are equal only if its mean has no error and its variance is 0.
        const float away = (part.x - mean) + part.y;
        own = has_part ? float2(part.w * away, part.z + part.w * away * away) : 0;
        const bool other = asuint(part.x) != bits || part.y != 0 || part.z != 0;
        difference = has_part && other ? 1 : 0;
    } else {
        own = deviations_of(kept, work.count, mean, bits, difference);
    }
    if (difference != 0) {
        differs[first_thread] = 1;
    }
    const float2 sums = deviations_over_set(own, thread, work.lane);
    const float element = joins ? asfloat(bits) : numbers_of(uint4(bits, 0, 0, 0)).x;
    return found(mean, sums.x, sums.y, number, differs[first_thread] != 0, element);
}

#if !FUSED

// The parameters of the next four items. For missing items, these are other valid units.
#define LOAD_PARAMETERS(turn)                                                       \
    [branch] if (in_units) {                                                        \
        [unroll] for (j = 0; j < 4; ++j) {                                          \
            const uint2 ahead = 4 * (turn) + j < count ? parameters_item : first;   \
            const Offsets parameter_offsets = offsets_in_lines(offsets, ahead);     \
            scales[j] = scale_units[parameter_offsets.scale / PARAMETERS_PER_ITEM]; \
            biases[j] = bias_units[parameter_offsets.bias / PARAMETERS_PER_ITEM];   \
            parameters_item = next_item(parameters_item);                           \
        }                                                                           \
    }

// Normalises the items that a thread keeps, the first of which is `first`. Stores four items after loading the
// parameters of the next four, so that the loads overlap.
void write_kept(uint4 kept[KEPT], uint count, uint2 first, Offsets offsets, float4 set_statistics, float4 set_scale,
                float4 set_bias) {
    const bool has_scales = has_scale == PARAMETERS_IN_UNITS;
    const bool has_biases = has_bias == PARAMETERS_IN_UNITS;
    const bool in_units = has_scales || has_biases;
    uint4 scales[4];
    uint4 biases[4];
    uint j;
    [unroll] for (j = 0; j < 4; ++j) {
        scales[j] = 0;
        biases[j] = 0;
    }
    uint2 item = first;
    uint2 parameters_item = first;
    LOAD_PARAMETERS(0)
    [unroll] for (uint turn = 0; turn < KEPT / 4; ++turn) {
        [branch] if (in_units) {
            [unroll] for (j = 0; j < 4; ++j) {
                const uint4 bits = kept[4 * turn + j];
                kept[4 * turn + j] = normalised_numbers(first_numbers(bits), second_numbers(bits), set_statistics,
                                                        has_scales ? first_numbers(scales[j]) : set_scale,
                                                        has_scales ? second_numbers(scales[j]) : set_scale,
                                                        has_biases ? first_numbers(biases[j]) : set_bias,
                                                        has_biases ? second_numbers(biases[j]) : set_bias);
            }
        } else {
            [unroll] for (j = 0; j < 4; ++j) {
                const uint4 bits = kept[4 * turn + j];
                kept[4 * turn + j] = normalised_numbers(first_numbers(bits), second_numbers(bits), set_statistics,
                                                        set_scale, set_scale, set_bias, set_bias);
            }
        }
        if (turn + 1 < KEPT / 4) {
            LOAD_PARAMETERS(turn + 1)
        }
        [unroll] for (j = 0; j < 4; ++j) {
            if (4 * turn + j < count) {
                output[offsets.output + item.y + item.x * item_dimensions[1].z] = kept[4 * turn + j];
            }
            item = next_item(item);
        }
    }
}

#endif

// The same for activations or gathered parameters, where the code would be too long to be repeated for each item. Items
// are read again, from a cache.
void write_again(uint count, uint2 first, Offsets offsets, float4 set_statistics) {
    uint2 item = first;
    [loop] for (uint k = 0; k < count; ++k) {
        const Offsets at = offsets_in_lines(offsets, item);
        const uint4 bits = input[at.input];
        output[at.output] = normalised_item(first_numbers(bits), second_numbers(bits), set_statistics, at);
        item = next_item(item);
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id), thread);
    const Offsets offsets = offsets_of_set(min(work.set, set_count - 1));
    uint4 kept[KEPT];
    load_kept(kept, work, offsets.input);
    float4 set_scale = 1;
    float4 set_bias = 0;
    [branch] if (has_scale == PARAMETERS_OF_SETS) {
        set_scale = ONE_PARAMETER(scale, offsets.scale);
    }
    [branch] if (has_bias == PARAMETERS_OF_SETS) {
        set_bias = ONE_PARAMETER(bias, offsets.bias);
    }
    float4 set_statistics;
    [branch] if (TASK == TASK_APPLY_STATISTICS) {
        set_statistics = statistics[offsets.set];
    } else {
        const float4 whole = statistics_of(kept, work, offsets.set);
        if (TASK == TASK_FIND_CHUNKS) {
            if (thread == 0 && work.set < set_count) {
                chunks[work.group] = whole;
            }
            return;
        }
        set_statistics = finished(whole.x, whole.y, whole.z);
    }
    if (work.set >= set_count) {
        return;
    }
#if !FUSED
    [branch] if (has_scale != PARAMETERS_ANYWHERE && has_bias != PARAMETERS_ANYWHERE) {
        write_kept(kept, work.count, work.first, offsets, set_statistics, set_scale, set_bias);
        return;
    }
#endif
    write_again(work.count, work.first, offsets, set_statistics);
}

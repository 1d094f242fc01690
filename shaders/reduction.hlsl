// Reductions: a group reduces several small lines, one line, or a chunk of one. Each thread takes every so many-th
// item, then threads' results are brought together: the order depends on nothing but sizes.
//
// COMBINE, NUMBERS  what is computed
// VECTOR            what an item is
// SOURCE            elements of a tensor, or what groups found before
// TARGET            what is written: parts for another pass, results, or the tensor anew
// KEPT              how many items a thread may keep until it writes them; 0: it reads them again
//
// FLOAT32           1: all tensors are FLOAT32
// See reduction_parameters.hlsli for their values.

#include "dispatch.hlsli"
#include "strided.hlsli"
#include "reduction_parameters.hlsli"
#include "reduction_tensors.hlsli"
#include "reduction_elements.hlsli"
#include "reduction_shared.hlsli"

// Over the threads of a line, in two steps: first over those that have their place within columns, then over columns.
// All of them get the result.
State over_line(State state, uint first, uint lane, uint lane_distance) {
    const uint rows = threads_per_line / columns_per_line;
    uint i;
    if (threads_per_line > 1) {
        put_shared(first + lane * lane_distance, state);
        GroupMemoryBarrierWithGroupSync();
        if (rows > 1) {
            if (lane < columns_per_line) {
                [loop] for (i = 1; i < rows; ++i) {
                    state = combined(state, get_shared(first + (lane + i * columns_per_line) * lane_distance));
                }
                put_shared(first + lane * lane_distance, state);
            }
            GroupMemoryBarrierWithGroupSync();
        }
        state = get_shared(first);
        [loop] for (i = 1; i < columns_per_line; ++i) {
            state = combined(state, get_shared(first + i * lane_distance));
        }
    }
    return state;
}

#if KEPT && COMBINE == COMBINE_EXPONENTIALS
// The same for numbers: the largest, or the sum. Each is called once, as nothing guards the memory from its next use.
#define OVER_LINE(name, memory, combination)                                                                 \
    float4 name(float4 number, uint first, uint lane, uint lane_distance) {                                  \
        const uint rows = threads_per_line / columns_per_line;                                               \
        uint i;                                                                                              \
        if (threads_per_line > 1) {                                                                          \
            memory[first + lane * lane_distance] = LANES_OF(asuint(number));                                 \
            GroupMemoryBarrierWithGroupSync();                                                               \
            if (rows > 1) {                                                                                  \
                if (lane < columns_per_line) {                                                               \
                    [loop] for (i = 1; i < rows; ++i) {                                                      \
                        const uint4 words = memory[first + (lane + i * columns_per_line) * lane_distance];   \
                        number = combination(number, asfloat(words));                                        \
                    }                                                                                        \
                    memory[first + lane * lane_distance] = LANES_OF(asuint(number));                         \
                }                                                                                            \
                GroupMemoryBarrierWithGroupSync();                                                           \
            }                                                                                                \
            const uint4 first_words = memory[first];                                                         \
            number = asfloat(first_words);                                                                   \
            [loop] for (i = 1; i < columns_per_line; ++i) {                                                  \
                const uint4 words = memory[first + i * lane_distance];                                       \
                number = combination(number, asfloat(words));                                                \
            }                                                                                                \
        }                                                                                                    \
        return number;                                                                                       \
    }

float4 sum_of(float4 x, float4 y) {
    return x + y;
}

OVER_LINE(most_over_line, shared_a, larger)
OVER_LINE(sum_over_line, shared_b, sum_of)
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint chunk = linear_group(group_id) % chunk_count;
    const uint lane = lines_side_by_side ? thread / lines_per_group : thread % threads_per_line;
    const uint lane_distance = lines_side_by_side ? lines_per_group : 1;
    const uint line_in_group = lines_side_by_side ? thread % lines_per_group : thread / threads_per_line;
    const uint line_number = linear_group(group_id) / chunk_count * lines_per_group + line_in_group;
    const bool exists = line_number < line_count;
    const uint first_item = min(chunk * items_per_chunk, item_count);
    const uint last_item = exists ? first_item + min(items_per_chunk, item_count - first_item) : first_item;
    STRIDED_OFFSETS(line_place, ROWS, min(line_number, line_count - 1), line_dimensions, line_dimension_count)
    const float4 mean = mean_of_line(line_place);
    State state = no_items();
    uint i;

#if KEPT
    float4 kept[KEPT];
    uint k;
    [unroll] for (k = 0; k < KEPT; ++k) {
        kept[k] = kept_element(line_place, first_item + lane + k * threads_per_line, last_item);
    }
#endif

#if KEPT && COMBINE == COMBINE_EXPONENTIALS
    // Each exponential is computed once, relative to the largest element of the line.
    const uint first_thread = thread - lane * lane_distance;
    float4 most = kept[0];
    [unroll] for (k = 1; k < KEPT; ++k) {
        most = larger(most, kept[k]);
    }
    most = most_over_line(largest_lane(most), first_thread, lane, lane_distance);
    const float4 base = base_of(most);
    float4 sum = 0;
    [unroll] for (k = 0; k < KEPT; ++k) {
        const float4 power = exponential_below_one(kept[k] - base);
        kept[k] = finish == FINISH_SOFTMAX ? power : kept[k];
        sum += power;
    }
    sum = sum_over_line(sum_of_lanes(sum), first_thread, lane, lane_distance);
    const State result = line_result(state_of(asuint(most), asuint(sum), 0));
    [unroll] for (k = 0; k < KEPT; ++k) {
        const uint item = first_item + lane + k * threads_per_line;
        if (item < last_item) {
            float4 numbers = kept[k] * asfloat(result.b);
            [branch] if (finish != FINISH_SOFTMAX) {
                numbers = (kept[k] - asfloat(result.a)) - asfloat(result.b);
            }
            store_item(line_place, item, numbers);
        }
    }
#else
#if KEPT
    [unroll] for (k = 0; k < KEPT; ++k) {
        state = combined(state, state_of_number(kept[k]));
    }
#else
    // Four at a time, so that a thread waits once for all of them.
    [loop] for (i = first_item + lane; i < last_item; i += 4 * threads_per_line) {
        const uint second = i + threads_per_line;
        const uint third = second + threads_per_line;
        const uint fourth = third + threads_per_line;
        const Item item_0 = load_item(line_place, i);
        const Item item_1 = load_item(line_place, min(second, last_item - 1));
        const Item item_2 = load_item(line_place, min(third, last_item - 1));
        const Item item_3 = load_item(line_place, min(fourth, last_item - 1));
#if COMBINE == COMBINE_EXPONENTIALS && SOURCE == SOURCE_TENSOR
        state = with_four(state, element_or_none(item_0, true), element_or_none(item_1, second < last_item),
                          element_or_none(item_2, third < last_item), element_or_none(item_3, fourth < last_item));
#else
        state = combined(state, state_of_loaded(item_0, i, mean));
        if (second < last_item) {
            state = combined(state, state_of_loaded(item_1, second, mean));
        }
        if (third < last_item) {
            state = combined(state, state_of_loaded(item_2, third, mean));
        }
        if (fourth < last_item) {
            state = combined(state, state_of_loaded(item_3, fourth, mean));
        }
#endif
    }
#endif
#if VECTOR == VECTOR_ITEMS
    state = collapsed(state);
#endif
    state = over_line(state, thread - lane * lane_distance, lane, lane_distance);

#if TARGET == TARGET_PARTS
    if (lane == 0 && exists) {
        store_part(state, chunk, line_number);
    }
#elif TARGET == TARGET_RESULTS
    if (lane == 0 && exists) {
        store_results(state, line_place);
    }
#else
    const State result = line_result(state);
#if KEPT
    [unroll] for (k = 0; k < KEPT; ++k) {
        const uint item = first_item + lane + k * threads_per_line;
        if (item < last_item) {
            store_item(line_place, item, new_element(kept[k], index_of(item), result));
        }
    }
#else
    [loop] for (i = first_item + lane; i < last_item; i += threads_per_line) {
        store_item(line_place, i, new_element(element_at(line_place, i), index_of(i), result));
    }
#endif
#endif
#endif
}

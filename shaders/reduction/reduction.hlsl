// Reductions: a thread group reduces several small lines, one line, or a chunk of one. Each thread reduces items at
// regular distances, then the threads' results are merged; the order depends only on sizes.
//
// COMBINE, NUMBERS  what is computed
// VECTOR            what an item is
// SOURCE            elements of a tensor, or results of a preceding pass
// TARGET            what is written: parts for another pass, results, or elements
// KEPT              how many items a thread can keep in registers until it writes elements; 0: it reads them again
// FLOAT32           1: all tensors are FLOAT32
// HALF              for VECTOR_SPREAD of FLOAT16, how that is converted: see device_variants.hlsli
//
// See reduction_parameters.hlsli for their values.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/reduction/reduction_parameters.hlsli"
#include "shaders/reduction/reduction_tensors.hlsli"
#include "shaders/reduction/reduction_elements.hlsli"
#include "shaders/reduction/reduction_shared.hlsli"
#if VECTOR == VECTOR_SPREAD
#include "shaders/reduction/reduction_spread.hlsli"
#endif
#if TARGET == TARGET_JOINED
#include "shaders/reduction/reduction_joined.hlsli"
#endif

// If items are spread, the planner has computed the division, because threads do little else.
#if VECTOR == VECTOR_SPREAD
#define ROWS_PER_LINE rows_per_line
#else
#define ROWS_PER_LINE (threads_per_line / columns_per_line)
#endif

// Merges the states of a line's threads in two steps: over threads with the same column, then over columns. All threads
// get the result.
State over_line(State state, uint first, uint lane, uint lane_distance) {
    const uint rows = ROWS_PER_LINE;
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
// The same for numbers: maximum or sum. Each is called only once, because no barrier protects the memory from the next
// use.
#define OVER_LINE(name, memory, combination)                                                                 \
    float4 name(float4 number, uint first, uint lane, uint lane_distance) {                                  \
        const uint rows = ROWS_PER_LINE;                                                                     \
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
    const uint line_group = linear_group(group_id) / chunk_count;
    const uint chunk = linear_group(group_id) % chunk_count;
#if VECTOR == VECTOR_SPREAD
    const uint lane = thread >> lane_shift & (threads_per_line - 1);
    const uint lane_distance = 1u << lane_shift;
    const uint line_in_group = thread >> line_shift & (lines_per_group - 1);
#else
    const uint lane = lines_side_by_side ? thread / lines_per_group : thread % threads_per_line;
    const uint lane_distance = lines_side_by_side ? lines_per_group : 1;
    const uint line_in_group = lines_side_by_side ? thread % lines_per_group : thread / threads_per_line;
#endif
    const uint line_number = line_group * lines_per_group + line_in_group;
    const bool exists = line_number < line_count;
    const uint first_item = min(chunk * items_per_chunk, item_count);
    const uint last_item = exists ? first_item + min(items_per_chunk, item_count - first_item) : first_item;
    const uint first_thread = thread - lane * lane_distance;
    STRIDED_OFFSETS(line_offsets, ROWS, min(line_number, line_count - 1), line_dimensions, line_dimension_count)
    const float4 mean = mean_of_line(line_offsets);
    State state = no_items();
    uint i;

#if VECTOR == VECTOR_SPREAD
    const uint line_start = input_start + INPUT_OF(line_offsets);
#endif
#if KEPT
    float4 kept[KEPT];
    uint k;
#if VECTOR == VECTOR_SPREAD
    const uint4 spread_lane = lane + uint4(0, 1, 2, 3) * threads_per_line;
    const bool is_whole = exists && word_count == WORDS_PER_ITEM * KEPT * threads_per_line;
    [branch] if (is_whole) {
        const uint start = line_start + lane * item_dimensions[0].y;
        const uint distance = threads_per_line * item_dimensions[0].y;
        [unroll] for (k = 0; k < KEPT; ++k) {
            kept[k] = numbers_of_spread(load_spread(start + WORDS_PER_ITEM * k * distance, distance));
        }
    } else {
        [unroll] for (k = 0; k < KEPT; ++k) {
            kept[k] = elements_of_rest(line_start, spread_lane + WORDS_PER_ITEM * k * threads_per_line, word_count);
        }
    }
#else
    [unroll] for (k = 0; k < KEPT; ++k) {
        kept[k] = kept_element(line_offsets, first_item + lane + k * threads_per_line, last_item);
    }
#endif
#endif

#if KEPT && COMBINE == COMBINE_EXPONENTIALS
    // Each exponential is computed once, relative to the maximum of the line.
    float4 most = kept[0];
    [unroll] for (k = 1; k < KEPT; ++k) {
        most = larger(most, kept[k]);
    }
    most = most_over_line(largest_lane(most), first_thread, lane, lane_distance);
    const float4 base = base_of(most);
    float4 sum = 0;
    [branch] if (finish == FINISH_SOFTMAX) {
        [unroll] for (k = 0; k < KEPT; ++k) {
            kept[k] = exponential_below_one(kept[k] - base);
            sum += kept[k];
        }
    } else {
        [unroll] for (k = 0; k < KEPT; ++k) {
            sum += exponential_below_one(kept[k] - base);
        }
    }
    sum = sum_over_line(sum_of_lanes(sum), first_thread, lane, lane_distance);
    const State result = line_result(state_of(asuint(most), asuint(sum), 0));
#if VECTOR == VECTOR_SPREAD
    [branch] if (is_whole) {
        const uint start = OUTPUT_OF(line_offsets) + lane * item_dimensions[0].z;
        const uint distance = threads_per_line * item_dimensions[0].z;
        [unroll] for (k = 0; k < KEPT; ++k) {
            store_spread(start + WORDS_PER_ITEM * k * distance, distance, kept_result(kept[k], result));
        }
    } else if (exists) {
        [unroll] for (k = 0; k < KEPT; ++k) {
            store_rest(OUTPUT_OF(line_offsets), spread_lane + WORDS_PER_ITEM * k * threads_per_line, word_count,
                       kept_result(kept[k], result));
        }
    }
#else
    [unroll] for (k = 0; k < KEPT; ++k) {
        const uint item = first_item + lane + k * threads_per_line;
        if (item < last_item) {
            store_item(line_offsets, item, kept_result(kept[k], result));
        }
    }
#endif
#else
#if KEPT
    [unroll] for (k = 0; k < KEPT; ++k) {
        state = combined(state, state_of_number(kept[k]));
    }
#elif VECTOR == VECTOR_SPREAD
    state.a = asuint(sum_of_spread(line_start, chunk * threads_per_line + lane, exists ? word_count : 0));
#else
    // Four at a time, so that the loads overlap.
    [loop] for (i = first_item + lane; i < last_item; i += 4 * threads_per_line) {
        const uint second = i + threads_per_line;
        const uint third = second + threads_per_line;
        const uint fourth = third + threads_per_line;
        const Item item_0 = load_item(line_offsets, i);
        const Item item_1 = load_item(line_offsets, min(second, last_item - 1));
        const Item item_2 = load_item(line_offsets, min(third, last_item - 1));
        const Item item_3 = load_item(line_offsets, min(fourth, last_item - 1));
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
#if VECTOR == VECTOR_ITEMS || VECTOR == VECTOR_SPREAD
    state = collapsed(state);
#endif
    state = over_line(state, first_thread, lane, lane_distance);

#if TARGET == TARGET_PARTS
    if (lane == 0 && exists) {
        store_part(state, chunk, line_number);
    }
#elif TARGET == TARGET_RESULTS
    if (lane == 0 && exists) {
        store_results(state, line_offsets);
    }
#elif TARGET == TARGET_JOINED
    const bool is_last =
        leave_part(state, chunk * part_line_count + line_number, lane == 0 && exists, thread, line_group) && exists;
    state = over_line(left_parts(line_number, lane, is_last ? chunk_count : 0), first_thread, lane, lane_distance);
    if (lane == 0 && is_last) {
        store_results(state, line_offsets);
    }
#else
    const State result = line_result(state);
#if KEPT
    [unroll] for (k = 0; k < KEPT; ++k) {
        const uint item = first_item + lane + k * threads_per_line;
        if (item < last_item) {
            store_item(line_offsets, item, new_element(kept[k], index_of(item), result));
        }
    }
#else
    [loop] for (i = first_item + lane; i < last_item; i += threads_per_line) {
        store_item(line_offsets, i, new_element(element_at(line_offsets, i), index_of(i), result));
    }
#endif
#endif
#endif
}

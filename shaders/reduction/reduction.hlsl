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
#include "shaders/reduction/reduction_work.hlsli"
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
State over_line(State state, Work work) {
    const uint rows = ROWS_PER_LINE;
    const uint first = work.first_thread;
    const uint own = first + work.lane * work.lane_distance;
    uint i;
    if (threads_per_line > 1) {
        put_shared(own, state);
        GroupMemoryBarrierWithGroupSync();
        if (rows > 1) {
            if (work.lane < columns_per_line) {
                [loop] for (i = 1; i < rows; ++i) {
                    const uint lane = work.lane + i * columns_per_line;
                    state = combined(state, get_shared(first + lane * work.lane_distance));
                }
                put_shared(own, state);
            }
            GroupMemoryBarrierWithGroupSync();
        }
        state = get_shared(first);
        [loop] for (i = 1; i < columns_per_line; ++i) {
            state = combined(state, get_shared(first + i * work.lane_distance));
        }
    }
    return state;
}

#if KEPT

#include "shaders/reduction/reduction_kept.hlsli"

#else

#if VECTOR == VECTOR_SPREAD
State state_of_thread(Work work, uint4 line_offsets[ROWS]) {
    State state = no_items();
    const uint line_start = input_start + INPUT_OF(line_offsets);
    const uint first = work.chunk * threads_per_line + work.lane;
    state.a = asuint(sum_of_spread(line_start, first, work.exists ? word_count : 0));
    return state;
}
#else
// Reduces a thread's items, four at a time, so that the loads overlap.
State state_of_thread(Work work, uint4 line_offsets[ROWS]) {
    State state = no_items();
    const float4 mean = mean_of_line(line_offsets);
    const uint last_item = work.last_item;
    [loop] for (uint i = work.first_item + work.lane; i < last_item; i += 4 * threads_per_line) {
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
    return state;
}
#endif

// Writes what becomes of a line's result, or of that of a chunk.
#if TARGET == TARGET_PARTS
void put_result(State state, Work work, uint4 line_offsets[ROWS], uint thread) {
    if (work.lane == 0 && work.exists) {
        store_part(state, work.chunk, work.line_number);
    }
}
#elif TARGET == TARGET_RESULTS
void put_result(State state, Work work, uint4 line_offsets[ROWS], uint thread) {
    if (work.lane == 0 && work.exists) {
        store_results(state, line_offsets);
    }
}
#elif TARGET == TARGET_JOINED
void put_result(State state, Work work, uint4 line_offsets[ROWS], uint thread) {
    const uint part = work.chunk * part_line_count + work.line_number;
    const bool writes = work.lane == 0 && work.exists;
    const bool is_last = leave_part(state, part, writes, thread, work.line_group) && work.exists;
    const State whole = over_line(left_parts(work.line_number, work.lane, is_last ? chunk_count : 0), work);
    if (work.lane == 0 && is_last) {
        store_results(whole, line_offsets);
    }
}
#else
void put_result(State state, Work work, uint4 line_offsets[ROWS], uint thread) {
    const State result = line_result(state);
    [loop] for (uint i = work.first_item + work.lane; i < work.last_item; i += threads_per_line) {
        store_item(line_offsets, i, new_element(element_at(line_offsets, i), index_of(i), result));
    }
}
#endif

#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id), thread);
    STRIDED_OFFSETS(line_offsets, ROWS, min(work.line_number, line_count - 1), line_dimensions, line_dimension_count)
#if KEPT
    float4 kept[KEPT];
    load_kept(kept, work, line_offsets);
    const State result = line_result(reduced(kept, work));
    store_kept(kept, work, line_offsets, result);
#else
    State state = state_of_thread(work, line_offsets);
#if VECTOR == VECTOR_ITEMS || VECTOR == VECTOR_SPREAD
    state = collapsed(state);
#endif
    put_result(over_line(state, work), work, line_offsets, thread);
#endif
}

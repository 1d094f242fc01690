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
#include "shaders/reduction/reduction_place.hlsli"
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
State over_line(State state, Place place) {
    const uint rows = ROWS_PER_LINE;
    const uint first = place.first_thread;
    const uint own = first + place.lane * place.lane_distance;
    uint i;
    if (threads_per_line > 1) {
        put_shared(own, state);
        GroupMemoryBarrierWithGroupSync();
        if (rows > 1) {
            if (place.lane < columns_per_line) {
                [loop] for (i = 1; i < rows; ++i) {
                    const uint lane = place.lane + i * columns_per_line;
                    state = combined(state, get_shared(first + lane * place.lane_distance));
                }
                put_shared(own, state);
            }
            GroupMemoryBarrierWithGroupSync();
        }
        state = get_shared(first);
        [loop] for (i = 1; i < columns_per_line; ++i) {
            state = combined(state, get_shared(first + i * place.lane_distance));
        }
    }
    return state;
}

#if KEPT

#include "shaders/reduction/reduction_kept.hlsli"

#else

#if VECTOR == VECTOR_SPREAD
State state_of_thread(Place place, uint4 line_offsets[ROWS]) {
    State state = no_items();
    const uint line_start = input_start + INPUT_OF(line_offsets);
    const uint first = place.chunk * threads_per_line + place.lane;
    state.a = asuint(sum_of_spread(line_start, first, place.exists ? word_count : 0));
    return state;
}
#else
// Reduces a thread's items, four at a time, so that the loads overlap.
State state_of_thread(Place place, uint4 line_offsets[ROWS]) {
    State state = no_items();
    const float4 mean = mean_of_line(line_offsets);
    const uint last_item = place.last_item;
    [loop] for (uint i = place.first_item + place.lane; i < last_item; i += 4 * threads_per_line) {
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
void put_result(State state, Place place, uint4 line_offsets[ROWS], uint thread) {
    if (place.lane == 0 && place.exists) {
        store_part(state, place.chunk, place.line_number);
    }
}
#elif TARGET == TARGET_RESULTS
void put_result(State state, Place place, uint4 line_offsets[ROWS], uint thread) {
    if (place.lane == 0 && place.exists) {
        store_results(state, line_offsets);
    }
}
#elif TARGET == TARGET_JOINED
void put_result(State state, Place place, uint4 line_offsets[ROWS], uint thread) {
    const uint part = place.chunk * part_line_count + place.line_number;
    const bool writes = place.lane == 0 && place.exists;
    const bool is_last = leave_part(state, part, writes, thread, place.line_group) && place.exists;
    const State whole = over_line(left_parts(place.line_number, place.lane, is_last ? chunk_count : 0), place);
    if (place.lane == 0 && is_last) {
        store_results(whole, line_offsets);
    }
}
#else
void put_result(State state, Place place, uint4 line_offsets[ROWS], uint thread) {
    const State result = line_result(state);
    [loop] for (uint i = place.first_item + place.lane; i < place.last_item; i += threads_per_line) {
        store_item(line_offsets, i, new_element(element_at(line_offsets, i), index_of(i), result));
    }
}
#endif

#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Place place = place_of(linear_group(group_id), thread);
    STRIDED_OFFSETS(line_offsets, ROWS, min(place.line_number, line_count - 1), line_dimensions, line_dimension_count)
#if KEPT
    float4 kept[KEPT];
    load_kept(kept, place, line_offsets);
    const State result = line_result(reduced(kept, place));
    store_kept(kept, place, line_offsets, result);
#else
    State state = state_of_thread(place, line_offsets);
#if VECTOR == VECTOR_ITEMS || VECTOR == VECTOR_SPREAD
    state = collapsed(state);
#endif
    put_result(over_line(state, place), place, line_offsets, thread);
#endif
}

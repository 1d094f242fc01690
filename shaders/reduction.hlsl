// Reductions: a group reduces several small lines, one line, or a chunk of one. Each thread takes every so many-th
// item, then threads' results are brought together: the order depends on nothing but sizes.
//
// COMBINE, NUMBERS  what is computed
// VECTOR            what an item is
// SOURCE            elements of a tensor, or what groups found before
// TARGET            what is written: parts for another pass, results, or the tensor anew
// KEPT              1: threads keep their few items until they write them
//
// See reduction_parameters.hlsli for their values.

#include "dispatch.hlsli"
#include "strided.hlsli"
#include "reduction_parameters.hlsli"
#include "reduction_tensors.hlsli"
#include "reduction_elements.hlsli"

#if VECTOR == VECTOR_LINES
#define Lanes uint4
#define LANES_OF(lanes) (lanes)
#else
#define Lanes uint
#define LANES_OF(lanes) ((lanes).x)
#endif

groupshared Lanes shared_a[GROUP_SIZE];
#if KEEPS_B
groupshared Lanes shared_b[GROUP_SIZE];
#endif
#if KEEPS_C
groupshared Lanes shared_c[GROUP_SIZE];
#endif

void put_shared(uint place, State state) {
    shared_a[place] = LANES_OF(state.a);
#if KEEPS_B
    shared_b[place] = LANES_OF(state.b);
#endif
#if KEEPS_C
    shared_c[place] = LANES_OF(state.c);
#endif
}

State get_shared(uint place) {
    State state = state_of(shared_a[place], 0, 0);
#if KEEPS_B
    state.b = shared_b[place];
#endif
#if KEEPS_C
    state.c = shared_c[place];
#endif
    return state;
}

// Over the threads of a line, in two steps of up to 16. All of them get the result.
State over_line(State state, uint first, uint lane, uint lane_distance) {
    const uint columns = min(threads_per_line, 16);
    const uint rows = threads_per_line / columns;
    uint i;
    if (threads_per_line > 1) {
        put_shared(first + lane * lane_distance, state);
        GroupMemoryBarrierWithGroupSync();
        if (rows > 1) {
            if (lane < columns) {
                [loop] for (i = 1; i < rows; ++i) {
                    state = combined(state, get_shared(first + (lane + i * columns) * lane_distance));
                }
                put_shared(first + lane * lane_distance, state);
            }
            GroupMemoryBarrierWithGroupSync();
        }
        state = get_shared(first);
        [loop] for (i = 1; i < columns; ++i) {
            state = combined(state, get_shared(first + i * lane_distance));
        }
    }
    return state;
}

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
    float4 kept[MOST_KEPT];
    state = kept_state(kept, line_place, first_item + lane, last_item);
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
    }
#if VECTOR == VECTOR_ITEMS
    state = collapsed(state);
#endif
#endif

#if KEPT && COMBINE == COMBINE_EXPONENTIALS
    const State own = state;
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
#elif KEPT && COMBINE == COMBINE_EXPONENTIALS
    const float4 factor = factor_of_kept(own, state);
    [unroll] for (uint k = 0; k < MOST_KEPT; ++k) {
        const uint item = first_item + lane + k * threads_per_line;
        if (item < last_item) {
            store_item(line_place, item, kept_element(kept[k], factor, state));
        }
    }
#elif KEPT
    [unroll] for (uint k = 0; k < MOST_KEPT; ++k) {
        const uint item = first_item + lane + k * threads_per_line;
        if (item < last_item) {
            store_item(line_place, item, new_element(kept[k], index_of(item), state));
        }
    }
#else
    [loop] for (i = first_item + lane; i < last_item; i += threads_per_line) {
        store_item(line_place, i, new_element(element_at(line_place, i), index_of(i), state));
    }
#endif
}

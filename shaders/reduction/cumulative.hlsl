// CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: each item becomes the result of all items of its line up to it.
//
// A group processes a chunk of one line, or several lines, tile by tile. A tile is in groupshared memory, and each
// thread has some consecutive items of it. The results of chunks were computed by reduction.hlsl.
//
// COMBINE, NUMBERS  see reduction_parameters.hlsli

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/reduction/reduction_parameters.hlsli"

#define VECTOR VECTOR_NONE
#define SOURCE SOURCE_TENSOR
#define TARGET TARGET_RESULTS
#define FLOAT32 0

#include "shaders/reduction/reduction_tensors.hlsli"
#include "shaders/reduction/reduction_shared.hlsli"
#include "shaders/reduction/reduction_work.hlsli"

#define ITEMS_PER_THREAD CUMULATED_PER_THREAD

groupshared uint tile_low[ITEMS_PER_THREAD * GROUP_SIZE];
#if NUMBERS == NUMBERS_TWO_WORDS
groupshared uint tile_high[ITEMS_PER_THREAD * GROUP_SIZE];
#endif

Item tile_item(uint slot) {
    Item item = (Item)0;
    item.low = tile_low[slot];
#if NUMBERS == NUMBERS_TWO_WORDS
    item.high = tile_high[slot];
#endif
    return item;
}

// Replaces the item by the bits of the result.
void put_result(uint slot, State state) {
#if NUMBERS == NUMBERS_REAL && COMBINE == COMBINE_PRODUCT
    tile_low[slot] = bits_from_real(real_result(state), output_kind).x;
#elif NUMBERS == NUMBERS_REAL
    tile_low[slot] = bits_from_real(asfloat(state.a), output_kind).x;
#else
    tile_low[slot] = state.a.x;
#endif
#if NUMBERS == NUMBERS_TWO_WORDS
    tile_high[slot] = state.b.x;
#endif
}

State part_at(uint part) {
    State state = state_of(parts_before[part], 0, 0);
#if KEEPS_B
    state.b = parts_before[parts_before_count + part];
#endif
    return state;
}

// The result of all chunks of a line before this one.
State before_chunk(Work work, uint thread) {
    const uint line_number = min(work.line_number, line_count - 1);
    uint i;
    State state = no_items();
    [loop] for (i = work.lane; i < work.chunk; i += threads_per_line) {
        state = combined(state, part_at(i * part_line_count + line_number));
    }
    put_shared(thread, state);
    GroupMemoryBarrierWithGroupSync();
    state = no_items();
    [loop] for (i = 0; i < threads_per_line; ++i) {
        state = combined(state, get_shared(work.first_thread + i * work.lane_distance));
    }
    return state;
}

// Loads a tile of a line, which starts with this item, into the slots from the first one on.
void load_tile(Work work, uint4 line_offsets[ROWS], uint tile, uint first_slot) {
    [loop] for (uint i = 0; i < ITEMS_PER_THREAD; ++i) {
        const uint in_tile = i * threads_per_line + work.lane;
        if (tile + in_tile < work.last_item) {
            const Item item = load_item(line_offsets, tile + in_tile);
            tile_low[first_slot + in_tile * work.lane_distance] = item.low.x;
#if NUMBERS == NUMBERS_TWO_WORDS
            tile_high[first_slot + in_tile * work.lane_distance] = item.high.x;
#endif
        }
    }
}

// Stores the results of a tile, which have replaced its items.
void store_tile(Work work, uint4 line_offsets[ROWS], uint tile, uint first_slot) {
    [loop] for (uint i = 0; i < ITEMS_PER_THREAD; ++i) {
        const uint in_tile = i * threads_per_line + work.lane;
        if (tile + in_tile < work.last_item) {
            STRIDED_OFFSETS(item_offsets, ROWS, tile + in_tile, item_dimensions, item_dimension_count)
            const Item result = tile_item(first_slot + in_tile * work.lane_distance);
            store_result(output_start + OUTPUT_OF(line_offsets) + OUTPUT_OF(item_offsets), result.low.x,
                         result.high.x);
        }
    }
}

// The result of some items in slots.
State total_of(uint first_slot, uint distance, uint count) {
    State total = no_items();
    [loop] for (uint i = 0; i < count; ++i) {
        total = combined(total, state_of_item(tile_item(first_slot + i * distance), 0, 0));
    }
    return total;
}

// Replaces these items by their results.
void cumulate(State before, uint first_slot, uint distance, uint count) {
    [loop] for (uint i = 0; i < count; ++i) {
        const uint slot = first_slot + i * distance;
        const State up_to = combined(before, state_of_item(tile_item(slot), 0, 0));
        if (is_exclusive) {
            put_result(slot, before);
        } else {
            put_result(slot, up_to);
        }
        before = up_to;
    }
}

// Threads of a line are combined in blocks: each shared state becomes that of all threads of its block up to it.
void combine_in_blocks(Work work, uint block_size, uint block_count) {
    if (work.lane < block_count) {
        State running = no_items();
        [loop] for (uint i = 0; i < block_size; ++i) {
            const uint part = work.first_thread + (work.lane * block_size + i) * work.lane_distance;
            running = combined(running, get_shared(part));
            put_shared(part, running);
        }
    }
}

// The result of everything before the thread's items. `carried` is that of everything before the tile, and becomes that
// of everything up to its end.
State before_thread(inout State carried, Work work, uint thread, uint block_size, uint block_count) {
    const uint lane = work.lane;
    State before = carried;
    [loop] for (uint i = 0; i < block_count; ++i) {
        const State block = get_shared(work.first_thread + (i * block_size + block_size - 1) * work.lane_distance);
        if (i < lane / block_size) {
            before = combined(before, block);
        }
        carried = combined(carried, block);
    }
    if (lane % block_size != 0) {
        before = combined(before, get_shared(thread - work.lane_distance));
    }
    return before;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id), thread);
    const uint tile_size = ITEMS_PER_THREAD * threads_per_line;
    const uint first_slot = lines_side_by_side ? work.line_in_group : work.line_in_group * tile_size;
    const uint own = work.lane * ITEMS_PER_THREAD;
    const uint own_slot = first_slot + own * work.lane_distance;
    const uint block_size = min(threads_per_line, 16);
    const uint block_count = threads_per_line / block_size;
    STRIDED_OFFSETS(line_offsets, ROWS, min(work.line_number, line_count - 1), line_dimensions, line_dimension_count)

    State carried = no_items();
    if (chunk_count > 1) {
        carried = before_chunk(work, thread);
    }
    // All threads of a group must process the same number of tiles, so chunks have equal sizes.
    const uint end = work.first_item + min(items_per_chunk, item_count - work.first_item);
    [loop] for (uint tile = work.first_item; tile < end; tile += tile_size) {
        load_tile(work, line_offsets, tile, first_slot);
        GroupMemoryBarrierWithGroupSync();
        const uint own_count = min(max(work.last_item, tile + own) - (tile + own), ITEMS_PER_THREAD);
        put_shared(thread, total_of(own_slot, work.lane_distance, own_count));
        GroupMemoryBarrierWithGroupSync();
        combine_in_blocks(work, block_size, block_count);
        GroupMemoryBarrierWithGroupSync();
        const State before = before_thread(carried, work, thread, block_size, block_count);
        cumulate(before, own_slot, work.lane_distance, own_count);
        GroupMemoryBarrierWithGroupSync();
        store_tile(work, line_offsets, tile, first_slot);
        // The next tile overwrites this memory. No barrier is needed: each thread loads the items that it has just
        // stored.
    }
}

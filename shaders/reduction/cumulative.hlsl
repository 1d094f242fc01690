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
    const uint tile_size = ITEMS_PER_THREAD * threads_per_line;
    const uint first_thread = thread - lane * lane_distance;
    const uint first_slot = lines_side_by_side ? line_in_group : line_in_group * tile_size;
    // Threads of a line are combined in blocks.
    const uint block_size = min(threads_per_line, 16);
    const uint block_count = threads_per_line / block_size;
    STRIDED_OFFSETS(line_offsets, ROWS, min(line_number, line_count - 1), line_dimensions, line_dimension_count)
    uint i;

    State carried = no_items();
    if (chunk_count > 1) {
        [loop] for (i = lane; i < chunk; i += threads_per_line) {
            carried = combined(carried, part_at(i * part_line_count + min(line_number, line_count - 1)));
        }
        put_shared(thread, carried);
        GroupMemoryBarrierWithGroupSync();
        carried = no_items();
        [loop] for (i = 0; i < threads_per_line; ++i) {
            carried = combined(carried, get_shared(first_thread + i * lane_distance));
        }
    }

    // All threads of a group must process the same number of tiles, so chunks have equal sizes.
    const uint end = first_item + min(items_per_chunk, item_count - first_item);
    [loop] for (uint tile = first_item; tile < end; tile += tile_size) {
        [loop] for (i = 0; i < ITEMS_PER_THREAD; ++i) {
            const uint in_tile = i * threads_per_line + lane;
            if (tile + in_tile < last_item) {
                const Item item = load_item(line_offsets, tile + in_tile);
                tile_low[first_slot + in_tile * lane_distance] = item.low.x;
#if NUMBERS == NUMBERS_TWO_WORDS
                tile_high[first_slot + in_tile * lane_distance] = item.high.x;
#endif
            }
        }
        GroupMemoryBarrierWithGroupSync();

        const uint own = lane * ITEMS_PER_THREAD;
        const uint own_slot = first_slot + own * lane_distance;
        const uint own_count = min(max(last_item, tile + own) - (tile + own), ITEMS_PER_THREAD);
        State total = no_items();
        [loop] for (i = 0; i < own_count; ++i) {
            total = combined(total, state_of_item(tile_item(own_slot + i * lane_distance), 0, 0));
        }
        put_shared(thread, total);
        GroupMemoryBarrierWithGroupSync();

        // Prefix results within each block.
        if (lane < block_count) {
            State running = no_items();
            [loop] for (i = 0; i < block_size; ++i) {
                const uint part = first_thread + (lane * block_size + i) * lane_distance;
                running = combined(running, get_shared(part));
                put_shared(part, running);
            }
        }
        GroupMemoryBarrierWithGroupSync();

        State before = carried;
        [loop] for (i = 0; i < block_count; ++i) {
            const State block = get_shared(first_thread + (i * block_size + block_size - 1) * lane_distance);
            if (i < lane / block_size) {
                before = combined(before, block);
            }
            carried = combined(carried, block);
        }
        if (lane % block_size != 0) {
            before = combined(before, get_shared(thread - lane_distance));
        }
        [loop] for (i = 0; i < own_count; ++i) {
            const uint slot = own_slot + i * lane_distance;
            const State up_to = combined(before, state_of_item(tile_item(slot), 0, 0));
            if (is_exclusive) {
                put_result(slot, before);
            } else {
                put_result(slot, up_to);
            }
            before = up_to;
        }
        GroupMemoryBarrierWithGroupSync();

        [loop] for (i = 0; i < ITEMS_PER_THREAD; ++i) {
            const uint in_tile = i * threads_per_line + lane;
            if (tile + in_tile < last_item) {
                STRIDED_OFFSETS(item_offsets, ROWS, tile + in_tile, item_dimensions, item_dimension_count)
                const Item result = tile_item(first_slot + in_tile * lane_distance);
                store_result(output_start + OUTPUT_OF(line_offsets) + OUTPUT_OF(item_offsets), result.low.x,
                             result.high.x);
            }
        }
        // The next tile overwrites this memory. No barrier is needed: each thread loads the items that it has just
        // stored.
    }
}

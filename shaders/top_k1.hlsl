// TOP_K1, one tile at a time: a group sorts in groupshared memory, and keeps the first of each sequence.
//
// A tile is a whole number of short sequences, or a part of a long one, which leaves candidates for another pass.
//
// FROM_TENSOR  1: sorts elements of the input. 0: candidates that an earlier pass left.
// TO_TENSOR    1: sequences are done, winners go to the outputs. 0: to candidates, sorted, `kept` of each tile.
// KEY_WORDS    see top_k1_entry.hlsli

#include "dispatch.hlsli"
#include "elements.hlsli"
#include "strided.hlsli"
#include "top_k1_entry.hlsli"

#define GROUP_SIZE 256
#define TILE 2048
#define MOST_SEQUENCES 256

groupshared uint tile_keys[TILE];
#if KEY_WORDS == 2
groupshared uint tile_low_keys[TILE];
#endif
groupshared uint tile_indices[TILE];
groupshared uint3 tile_sequences[MOST_SEQUENCES];

uint winner(uint slot) {
    return tile_indices[slot];
}

#include "top_k1_tensors.hlsli"

#if !FROM_TENSOR
RWStructuredBuffer<StoredEntry> source : register(u3);
#endif
#if !TO_TENSOR
RWStructuredBuffer<StoredEntry> candidates : register(u4);
#endif

Entry tile_entry(uint slot) {
    Entry entry;
    entry.key = tile_keys[slot];
#if KEY_WORDS == 2
    entry.low_key = tile_low_keys[slot];
#endif
    entry.index = tile_indices[slot];
    return entry;
}

void put_tile_entry(uint slot, Entry entry) {
    tile_keys[slot] = entry.key;
#if KEY_WORDS == 2
    tile_low_keys[slot] = entry.low_key;
#endif
    tile_indices[slot] = entry.index;
}

// The earlier of two entries to slot a.
void put_in_order(uint a, uint b) {
    const Entry first = tile_entry(a);
    const Entry second = tile_entry(b);
    if (before(second, first)) {
        put_tile_entry(a, second);
        put_tile_entry(b, first);
    }
}

// Merges bitonic runs of 2^log_size slots each, `distance` slots apart. Half as many pairs as slots.
void merge_bitonic(uint thread, uint pair_count, uint log_size, uint distance) {
    for (uint log_gap = log_size; log_gap-- > 0;) {
        GroupMemoryBarrierWithGroupSync();
        for (uint pair = thread; pair < pair_count; pair += GROUP_SIZE) {
            const uint in_run = pair & ((1u << log_size) / 2 - 1);
            const uint base = (pair >> (log_size - 1)) * distance;
            const uint a = base + (in_run >> log_gap << (log_gap + 1)) + (in_run & ((1u << log_gap) - 1));
            put_in_order(a, a + (1u << log_gap));
        }
    }
}

// Sorts runs of `run` slots: a bitonic sorter in which all runs ascend, because each merge begins by comparing the first with the
// last.
void sort_runs(uint thread, uint slot_count) {
    for (uint log_size = 0; (2u << log_size) <= run; ++log_size) {
        GroupMemoryBarrierWithGroupSync();
        for (uint pair = thread; pair < slot_count / 2; pair += GROUP_SIZE) {
            const uint base = pair >> log_size << (log_size + 1);
            const uint i = pair & ((1u << log_size) - 1);
            put_in_order(base + i, base + (2u << log_size) - 1 - i);
        }
        merge_bitonic(thread, slot_count / 2, log_size, 1u << log_size);
    }
}

// Of two sorted runs at a time keeps the first half of their merge, until each sequence has one run left, in its first slots.
void select_runs(uint thread, uint slot_count) {
    const uint log_run = firstbithigh(run);
    for (uint distance = run; distance < slots; distance *= 2) {
        GroupMemoryBarrierWithGroupSync();
        const uint pair_count = slot_count / (2 * distance) * run;
        for (uint pair = thread; pair < pair_count; pair += GROUP_SIZE) {
            const uint base = (pair >> log_run) * 2 * distance;
            const uint i = pair & (run - 1);
            put_in_order(base + i, base + distance + run - 1 - i);
        }
        merge_bitonic(thread, pair_count / 2, log_run, 2 * distance);
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint tile = linear_group(group_id);
    const uint first_sequence = tile / tiles_per_sequence * sequences_per_tile;
    const uint first_entry = tile % tiles_per_sequence * TILE;
    const uint slot_count = sequences_per_tile * slots;
    uint i;
    for (i = thread; i < sequences_per_tile; i += GROUP_SIZE) {
        tile_sequences[i] = locate_sequence(first_sequence + i);
    }
    GroupMemoryBarrierWithGroupSync();

    for (i = thread; i < slot_count; i += GROUP_SIZE) {
        const uint sequence = sequences_side_by_side ? i % sequences_per_tile : i / slots;
        const uint in_sequence = sequences_side_by_side ? i / sequences_per_tile : i % slots;
        Entry entry = no_entry();
        if (first_sequence + sequence < sequence_count && first_entry + in_sequence < entry_count) {
#if FROM_TENSOR
            entry = entry_of_element(tile_sequences[sequence].x, first_entry + in_sequence);
#else
            entry = entry_from(source[(first_sequence + sequence) * entry_count + first_entry + in_sequence]);
#endif
        }
        put_tile_entry(sequence * slots + in_sequence, entry);
    }
    sort_runs(thread, slot_count);
    select_runs(thread, slot_count);
    GroupMemoryBarrierWithGroupSync();

#if TO_TENSOR
    const uint sequence_units = most_value_units();
    for (i = thread; i < sequences_per_tile * sequence_units; i += GROUP_SIZE) {
        const uint sequence = i / sequence_units;
        if (first_sequence + sequence < sequence_count &&
            i % sequence_units < value_units(tile_sequences[sequence])) {
            store_value_unit(tile_sequences[sequence], sequence * slots, i % sequence_units);
        }
    }
    for (i = thread; i < sequences_per_tile * k; i += GROUP_SIZE) {
        const uint sequence = i / k;
        if (first_sequence + sequence < sequence_count) {
            store_index(tile_sequences[sequence], sequence * slots, i % k);
        }
    }
#else
    for (i = thread; i < kept; i += GROUP_SIZE) {
        if (first_sequence < sequence_count) {
            candidates[tile * kept + i] = stored_from(tile_entry(i));
        }
    }
#endif
}

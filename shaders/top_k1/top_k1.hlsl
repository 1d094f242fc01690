// TOP_K1 of 64-bit elements, one tile at a time: a thread group sorts in groupshared memory, and keeps the first
// entries of each sequence.
//
// A tile is several complete short sequences, or a part of a long one, which leaves candidates for another pass.
//
// FROM_TENSOR  1: sorts elements of the input. 0: candidates of a preceding pass.
// TO_TENSOR    1: sequences are complete, winners go to the outputs. 0: to sorted candidates, `kept` for each tile.

#define KEY_WORDS 2

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/top_k1/top_k1_entry.hlsli"
#include "shaders/top_k1/top_k1_parameters.hlsli"

#define TILE TOP_K1_TILE
#define PER_THREAD (TILE / GROUP_SIZE)
#define MOST_SEQUENCES TOP_K1_TILE_SEQUENCES

// The tile, followed by an entry for each thread, for selecting a few winners from many entries.
#define SLOTS (TILE + GROUP_SIZE)
groupshared uint tile_low_keys[SLOTS];
groupshared uint picked_counts[GROUP_SIZE / 8];
groupshared uint tile_keys[SLOTS];
groupshared uint tile_indices[SLOTS];
groupshared uint3 tile_sequences[MOST_SEQUENCES];

uint winner(uint slot) {
    return tile_indices[slot];
}

#include "shaders/top_k1/top_k1_tensors.hlsli"

#include "shaders/top_k1/top_k1_candidates.hlsli"

Entry tile_entry(uint slot) {
    Entry entry;
    entry.key = tile_keys[slot];
    entry.low_key = tile_low_keys[slot];
    entry.index = tile_indices[slot];
    return entry;
}

void put_tile_entry(uint slot, Entry entry) {
    tile_keys[slot] = entry.key;
    tile_low_keys[slot] = entry.low_key;
    tile_indices[slot] = entry.index;
}

// Sorts the first `run` entries of each sequence into its first slots. Sequences are contiguous from slot `start` on,
// with `size_of_each` slots each, `slot_count` in total.
//
// A bitonic network. Pairs of sorted runs, `distance` slots apart, are merged to sorted runs of twice the size: the
// first entry of one run is compared with the last of the other and so on (in mirror order, so that all runs ascend),
// then entries within each half, with decreasing distance. From runs of `run` slots on, only the first half of each
// pair continues, which selects a few winners from many entries.
void sort_sequences(uint thread, uint start, uint size_of_each, uint slot_count) {
    [loop] for (uint distance = 1; distance < size_of_each; distance *= 2) {
        const uint size = min(distance, run);
        const uint log_size = firstbithigh(size);
        const uint block = distance < run ? size : 2 * distance;  // distance between the halves that continue
        [loop] for (uint turn = 0; turn <= log_size; ++turn) {
            const bool mirror = turn == 0;
            const uint log_gap = log_size - turn;
            const uint log_pairs = mirror ? log_size : log_size - 1;  // pairs in each block
            const uint block_distance = mirror ? 2 * distance : block;
            const uint pair_count = slot_count / block_distance << log_pairs;
            GroupMemoryBarrierWithGroupSync();
            [loop] for (uint pair = thread; pair < pair_count; pair += GROUP_SIZE) {
                const uint base = start + (pair >> log_pairs) * block_distance;
                const uint i = pair & ((1u << log_pairs) - 1);
                const uint a = base + i + (mirror ? 0 : i >> log_gap << log_gap);
                const uint b = mirror ? base + distance + size - 1 - i : a + (1u << log_gap);
                const Entry first = tile_entry(a);
                const Entry second = tile_entry(b);
                if (before(second, first)) {
                    put_tile_entry(a, second);
                    put_tile_entry(b, first);
                }
            }
        }
    }
    GroupMemoryBarrierWithGroupSync();
}

// Stores the first of the entries that a thread has of a sequence: every `threads`th, starting at slot `first`.
void put_best(uint thread, uint first, uint threads) {
    Entry best = tile_entry(first);
    [loop] for (uint j = 1; j < PER_THREAD; ++j) {
        const Entry entry = tile_entry(first + j * threads);
        if (before(entry, best)) {
            best = entry;
        }
    }
    put_tile_entry(TILE + thread, best);
}

// Stores a thread's entries that can be winners after the tile. `last` is the last of the threads' best entries that
// could be a winner: k threads have an entry that does not come after it, so there are at most PER_THREAD * k
// candidates.
void pick(uint first, uint threads, Entry last, uint sequence) {
    [loop] for (uint j = 0; j < PER_THREAD; ++j) {
        const Entry entry = tile_entry(first + j * threads);
        if (!before(last, entry) && entry.index != 0xffffffff) {
            uint slot;
            InterlockedAdd(picked_counts[sequence], 1, slot);
            put_tile_entry(TILE + sequence * PER_THREAD * run + slot, entry);
        }
    }
}

// Fills the tile from sequences, the first of which is this one, and from entries of theirs.
void load_tile(uint thread, uint first_sequence, uint first_entry) {
    const uint slot_count = sequences_per_tile * slots;
    [loop] for (uint i = thread; i < slot_count; i += GROUP_SIZE) {
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
}

// Sorts the tile. Returns the slot of the first winner, and the distance between those of sequences.
//
// For few winners: the best entry of each thread tells which entries can be among them, and only these are sorted.
uint2 sort_tile(uint thread) {
    const uint threads = max(slots / PER_THREAD, 1);  // for each sequence
    const uint own_sequence = thread / threads % sequences_per_tile;
    const uint first_own = own_sequence * slots + thread % threads;
    uint start = 0;
    uint size_of_each = slots;
    [loop] for (uint stage = picks ? 0 : 1; stage < 2; ++stage) {
        if (stage == 0) {
            GroupMemoryBarrierWithGroupSync();
            put_best(thread, first_own, threads);
            start = TILE;
            size_of_each = threads;
        }
        sort_sequences(thread, start, size_of_each, sequences_per_tile * size_of_each);
        if (stage == 0) {
            const Entry last = tile_entry(TILE + own_sequence * threads + k - 1);
            GroupMemoryBarrierWithGroupSync();
            put_tile_entry(TILE + thread, no_entry());
            if (thread < sequences_per_tile) {
                picked_counts[thread] = 0;
            }
            GroupMemoryBarrierWithGroupSync();
            if (thread < threads * sequences_per_tile) {
                pick(first_own, threads, last, own_sequence);
            }
            size_of_each = PER_THREAD * run;
        }
    }
    return uint2(start, size_of_each);
}

#if TO_TENSOR
// Stores the winners of the tile's sequences, the first of which is this one.
void store_winners(uint thread, uint first_sequence, uint start, uint size_of_each) {
    const uint sequence_units = most_value_units();
    uint i;
    [loop] for (i = thread; i < sequences_per_tile * sequence_units; i += GROUP_SIZE) {
        const uint sequence = i / sequence_units;
        if (first_sequence + sequence < sequence_count &&
            i % sequence_units < value_units(tile_sequences[sequence])) {
            store_value_unit(tile_sequences[sequence], start + sequence * size_of_each, i % sequence_units);
        }
    }
    [loop] for (i = thread; i < sequences_per_tile * k; i += GROUP_SIZE) {
        const uint sequence = i / k;
        if (first_sequence + sequence < sequence_count) {
            store_index(tile_sequences[sequence], start + sequence * size_of_each, i % k);
        }
    }
}
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint tile = linear_group(group_id);
    const uint first_sequence = tile / tiles_per_sequence * sequences_per_tile;
    uint i;
    [loop] for (i = thread; i < sequences_per_tile; i += GROUP_SIZE) {
        tile_sequences[i] = locate_sequence(first_sequence + i);
    }
    GroupMemoryBarrierWithGroupSync();
    load_tile(thread, first_sequence, tile % tiles_per_sequence * TILE);
    const uint2 sorted = sort_tile(thread);
#if TO_TENSOR
    store_winners(thread, first_sequence, sorted.x, sorted.y);
#else
    [loop] for (i = thread; i < kept; i += GROUP_SIZE) {
        if (first_sequence < sequence_count) {
            candidates[tile * kept + i] = stored_from(tile_entry(sorted.x + i));
        }
    }
#endif
}

// TOP_K1 where few winners are wanted out of many entries: most entries are never sorted.
//
// A tile is a sequence, or a part of a long one, which leaves candidates for another pass. A group has tiles of several
// sequences where they are short. Each thread keeps its entries of one tile in registers.
//
// The best entries of the threads tell which ones can be winners: the k-th of their keys is the limit. At least k
// entries are not beyond it, and the entries before it are those of fewer than k threads. These are picked, and of the
// ones at the limit as many as are wanted, those of low index. Each picked entry finds its place by counting the picked
// ones before it.
//
// Entries of equal keys are told apart by their positions in the tile. Candidates' positions are in the order of their
// indices where keys are equal, as each pass leaves them so. A tile's positions without entries come last.
//
// FROM_TENSOR  1: selects elements of the input. 0: candidates that an earlier pass left.
// TO_TENSOR    1: sequences are done, winners go to the outputs. 0: to candidates, sorted, k of each tile.
// PER_THREAD   how many entries a thread has

#define KEY_WORDS 1

#include "dispatch.hlsli"
#include "elements.hlsli"
#include "strided.hlsli"
#include "top_k1_entry.hlsli"

#define LOG_GROUP_SIZE 8
#define GROUP_SIZE 256
#define MOST_SEQUENCES 32
// For picked entries of all sequences. The plan sees to it that no data need more.
#define ROOM 2048
// A sequence whose large elements repeat after as many elements as it has threads would otherwise have all of them in
// a few threads.
#define ROTATION 8

groupshared uint best_keys[GROUP_SIZE];
groupshared uint entries_at_limit[GROUP_SIZE];  // a bit for each of the thread's entries
groupshared uint2 picked_entries[ROOM];         // key and position
groupshared uint limits[MOST_SEQUENCES];
groupshared uint counts[MOST_SEQUENCES];  // of entries before the limit; 65536 times those at the limit
groupshared uint picked_counts[MOST_SEQUENCES];
groupshared uint row_counts[MOST_SEQUENCES * PER_THREAD];
#if TO_TENSOR
groupshared uint winner_indices[GROUP_SIZE];

uint winner(uint slot) {
    return winner_indices[slot];
}
#else
uint winner(uint slot) {
    return slot;
}
#endif

#include "top_k1_tensors.hlsli"

#if !FROM_TENSOR
RWStructuredBuffer<StoredEntry> source : register(u3);
#endif
#if !TO_TENSOR
RWStructuredBuffer<StoredEntry> candidates : register(u4);
#endif

// Row j of a tile has one entry of each thread.
uint position_in_row(uint row, uint lane) {
    const uint threads = 1u << log_threads;
    return (row << log_threads) + (lane + row * ROTATION & threads - 1);
}

// How many of the sequence's threads have a better best entry.
uint threads_before(uint best, uint first, uint distance) {
    uint count = 0;
    uint slot = first;
    // Eight at a time, so that a thread waits once for all of them.
    [loop] for (uint i = 0; i < 1u << log_threads; i += 8) {
        const uint key_0 = best_keys[slot];
        const uint key_1 = best_keys[slot + distance];
        const uint key_2 = best_keys[slot + 2 * distance];
        const uint key_3 = best_keys[slot + 3 * distance];
        const uint key_4 = best_keys[slot + 4 * distance];
        const uint key_5 = best_keys[slot + 5 * distance];
        const uint key_6 = best_keys[slot + 6 * distance];
        const uint key_7 = best_keys[slot + 7 * distance];
        count += (key_0 < best ? 1 : 0) + (key_1 < best ? 1 : 0) + (key_2 < best ? 1 : 0) + (key_3 < best ? 1 : 0);
        count += (key_4 < best ? 1 : 0) + (key_5 < best ? 1 : 0) + (key_6 < best ? 1 : 0) + (key_7 < best ? 1 : 0);
        slot += 8 * distance;
    }
    return count;
}

// How many entries of a row are at the limit.
uint entries_of_row(uint row, uint first, uint distance) {
    uint count = 0;
    [loop] for (uint i = 0; i < 1u << log_threads; ++i) {
        count += entries_at_limit[first + i * distance] >> row & 1;
    }
    return count;
}

// How many rows it takes, from the first one on, to have so many entries at the limit.
uint rows_with(uint wanted, uint sequence) {
    uint rows = 0;
    uint found = 0;
    [loop] while (found < wanted) {
        found += row_counts[sequence * PER_THREAD + rows];
        ++rows;
    }
    return rows;
}

uint picked_before(uint2 entry, uint first_picked, uint count) {
    uint before = 0;
    [loop] for (uint i = 0; i < count; ++i) {
        const uint2 other = picked_entries[first_picked + i];
        before += other.x < entry.x || (other.x == entry.x && other.y < entry.y) ? 1 : 0;
    }
    return before;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint threads = 1u << log_threads;  // for each sequence
    const uint log_sequences = LOG_GROUP_SIZE - log_threads;
    const uint sequence_in_group =
        sequences_side_by_side ? thread & (1u << log_sequences) - 1 : thread >> log_threads;
    const uint lane = sequences_side_by_side ? thread >> log_sequences : thread & threads - 1;
    // From a thread of the sequence to the next.
    const uint distance = sequences_side_by_side ? 1u << log_sequences : 1;
    const uint first_thread = thread - lane * distance;
    const uint first_picked = sequence_in_group * (ROOM / GROUP_SIZE) << log_threads;
    const uint sequence = (linear_group(group_id) / tiles_per_sequence << log_sequences) + sequence_in_group;
    const uint tile = linear_group(group_id) % tiles_per_sequence;
    const uint first_entry = tile * PER_THREAD << log_threads;
    const bool exists = sequence < sequence_count;
    const uint near_sequence = min(sequence, sequence_count - 1);
    const uint3 starts = locate_sequence(near_sequence);
    uint i;
    uint j;

    if (thread < MOST_SEQUENCES) {
        limits[thread] = 0;
        counts[thread] = 0;
        picked_counts[thread] = 0;
    }
    uint keys[PER_THREAD];
    uint best = 0xffffffff;
    // Without branches, so that a thread waits once for all of them.
    [unroll] for (j = 0; j < PER_THREAD; ++j) {
        const uint entry = first_entry + position_in_row(j, lane);
        const uint near_entry = min(entry, entry_count - 1);
#if FROM_TENSOR
        const uint key = key_of_element(starts.x, near_entry);
#else
        const uint key = source[near_sequence * entry_count + near_entry].x;
#endif
        keys[j] = entry < entry_count ? key : 0xffffffff;
        best = min(best, keys[j]);
    }
    best_keys[thread] = best;
    GroupMemoryBarrierWithGroupSync();

    if (threads_before(best, first_thread, distance) < k) {
        InterlockedMax(limits[sequence_in_group], best);
    }
    GroupMemoryBarrierWithGroupSync();

    const uint limit = limits[sequence_in_group];
    uint own_before = 0;
    uint own_at = 0;
    uint own_bits = 0;
    [unroll] for (j = 0; j < PER_THREAD; ++j) {
        own_before += keys[j] < limit ? 1 : 0;
        own_at += keys[j] == limit ? 1 : 0;
        own_bits |= keys[j] == limit ? 1u << j : 0;
    }
    entries_at_limit[thread] = own_bits;
    if (best <= limit) {
        InterlockedAdd(counts[sequence_in_group], own_before + (own_at << 16));
    }
    GroupMemoryBarrierWithGroupSync();

    const uint before_limit = counts[sequence_in_group] & 0xffff;
    const uint at_limit = counts[sequence_in_group] >> 16;
    const uint wanted_at_limit = k > before_limit ? k - before_limit : 0;
    const bool are_too_many = at_limit > wanted_at_limit;
    if (are_too_many && wanted_at_limit > 0) {
        [loop] for (i = lane; i < PER_THREAD; i += threads) {
            row_counts[sequence_in_group * PER_THREAD + i] = entries_of_row(i, first_thread, distance);
        }
    }
    GroupMemoryBarrierWithGroupSync();

    uint rows = PER_THREAD;  // whose entries at the limit are picked
    if (are_too_many) {
        rows = rows_with(wanted_at_limit, sequence_in_group);
    }
    [branch] if (best <= limit) {
        [unroll] for (j = 0; j < PER_THREAD; ++j) {
            [branch] if (keys[j] < limit || (keys[j] == limit && j < rows)) {
                uint place;
                InterlockedAdd(picked_counts[sequence_in_group], 1, place);
                picked_entries[first_picked + place] = uint2(keys[j], position_in_row(j, lane));
            }
        }
    }
    GroupMemoryBarrierWithGroupSync();

    const uint picked_count = picked_counts[sequence_in_group];
    [loop] for (i = lane; i < picked_count; i += threads) {
        const uint2 entry = picked_entries[first_picked + i];
        const uint rank = picked_before(entry, first_picked, picked_count);
        if (rank < k) {
            uint index = first_entry + entry.y;
#if !FROM_TENSOR
            index = index < entry_count ? source[near_sequence * entry_count + index].y : 0xffffffff;
#endif
#if TO_TENSOR
            winner_indices[sequence_in_group * k + rank] = index;
#else
            if (exists) {
                candidates[(sequence * tiles_per_sequence + tile) * k + rank] = uint2(entry.x, index);
            }
#endif
        }
    }

#if TO_TENSOR
    GroupMemoryBarrierWithGroupSync();
    if (exists) {
        const uint units = value_units(starts);
        [loop] for (i = lane; i < units; i += threads) {
            store_value_unit(starts, sequence_in_group * k, i);
        }
        [loop] for (i = lane; i < k; i += threads) {
            store_index(starts, sequence_in_group * k, i);
        }
    }
#endif
}

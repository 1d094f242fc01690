// TOP_K1 for small K: most entries are never sorted.
//
// A tile is a sequence, or a part of a long one, which leaves candidates for another pass. A thread group has tiles of
// several short sequences. Each thread keeps its entries of one tile in registers.
//
// The best entries of the threads tell which entries can be winners. The limit is a key that is not better than the
// best keys of at least k threads, so at least k entries are not beyond it. These are picked. The rank of each picked
// entry is the number of picked ones before it.
//
// At first, only the keys of some threads are tried as limits. Picked entries may not all fit the memory if this limit
// is far off, or if many entries equal it. Then the limit is the k-th of all threads' best keys. The entries before it
// belong to fewer than k threads. Of the entries at the limit, only as many as needed are picked, those with the lowest
// indices.
//
// Entries with equal keys are ordered by their positions in the tile. Candidates with equal keys are ordered by index,
// because each pass leaves them so. Empty positions of a tile come last.
//
// FROM_TENSOR  1: selects elements of the input. 0: candidates of a preceding pass.
// TO_TENSOR    1: sequences are complete, winners go to the outputs. 0: to sorted candidates, k for each tile.
// PER_THREAD   entries of each thread: 4, 16 or 32. A group has one sequence if it is 32.
// WORDS        1: elements of the input are words. 0: of any size.
// CHUNKS       1: entries are the elements of k chunks of the input (top_k1_chunks.hlsl), which a preceding pass
//              selected. A group has one sequence.

#define KEY_WORDS 1

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/top_k1/top_k1_entry.hlsli"
#include "shaders/top_k1/top_k1_parameters.hlsli"

#define LOG_GROUP_SIZE 8
#if PER_THREAD == TOP_K1_MOST_PER_THREAD
#define MOST_SEQUENCES 1
#define LOG_THREADS 8
#define ROOM_PER_THREAD TOP_K1_ROOM_FOR_MOST
#else
#define MOST_SEQUENCES 32
#define LOG_THREADS log_threads
#define ROOM_PER_THREAD TOP_K1_ROOM
#endif
// Room for the picked entries of all sequences. The plan ensures that it is always sufficient.
#define ROOM (GROUP_SIZE * ROOM_PER_THREAD)
#if WORDS
#define ELEMENT_PACKING 0
#endif
// The stride between the best keys of sequences, so that threads of several sequences read from different banks.
#define GAP 4
// Shifts rows against each other. Otherwise, if a sequence is periodic with a period of its number of threads, all of
// its large elements would belong to a few threads.
#define ROTATION 8

groupshared uint best_keys[GROUP_SIZE + GAP * MOST_SEQUENCES];
groupshared uint entries_at_limit[GROUP_SIZE];  // one bit for each of the thread's entries
groupshared uint picked_entries[2 * ROOM];      // keys and positions
groupshared uint limits[2 * MOST_SEQUENCES];  // for both attempts
groupshared uint picked_counts[2 * MOST_SEQUENCES];
groupshared uint counts[MOST_SEQUENCES];  // of entries before the limit, plus 65536 times the number at the limit
groupshared uint has_no_room;  // 1 if the picked entries of a sequence do not fit
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

#include "shaders/top_k1/top_k1_tensors.hlsli"

#include "shaders/top_k1/top_k1_candidates.hlsli"

#if CHUNKS
// The indices of chunks: as found, and in ascending order, so that positions of elements are ordered by index. Unused
// slots have indices beyond the input.
groupshared uint found_chunks[GROUP_SIZE];
groupshared uint chunks[GROUP_SIZE];

void sort_chunks(uint sequence, uint thread) {
    const uint chunk = thread < k ? source[sequence * k + thread].y : 0xffffffff;
    found_chunks[thread] = chunk;
    chunks[thread] = 0xffffffff;
    GroupMemoryBarrierWithGroupSync();
    if (thread < k) {
        uint before = 0;
        [loop] for (uint i = 0; i < k; ++i) {
            before += found_chunks[i] < chunk ? 1 : 0;
        }
        chunks[before] = chunk;
    }
    GroupMemoryBarrierWithGroupSync();
}
#endif

// The index of an entry within its sequence in the source.
uint number_of_entry(uint entry) {
#if CHUNKS
    return (chunks[entry >> log_chunk] << log_chunk) + (entry & (1u << log_chunk) - 1);
#else
    return entry;
#endif
}

// What a thread works on: a tile of a sequence.
struct Work {
    uint sequence_in_group;
    uint lane;          // the thread's index among those of its sequence
    uint first_worker;  // the sequence's first thread, if the threads of each sequence were adjacent
    uint first_best;    // its slot in best_keys
    uint first_picked;  // the sequence's first slot in picked_entries
    uint sequence;
    bool exists;         // whether there is such a sequence
    uint near_sequence;  // otherwise another one
    uint3 starts;
    uint tile;
    uint first_entry;
};

#define THREADS (1u << LOG_THREADS)         // per sequence
#define ROOM_OF_EACH (THREADS * ROOM_PER_THREAD)  // for a sequence's picked entries

Work work_of(uint group, uint thread) {
    const uint log_sequences = LOG_GROUP_SIZE - LOG_THREADS;
    Work work;
    work.sequence_in_group = sequences_side_by_side ? thread & (1u << log_sequences) - 1 : thread >> LOG_THREADS;
    work.lane = sequences_side_by_side ? thread >> log_sequences : thread & THREADS - 1;
    work.first_worker = work.sequence_in_group << LOG_THREADS;
    work.first_best = work.first_worker + work.sequence_in_group * GAP;
    work.first_picked = work.first_worker * ROOM_PER_THREAD;
    work.sequence = (group / tiles_per_sequence << log_sequences) + work.sequence_in_group;
    work.exists = work.sequence < sequence_count;
    work.near_sequence = min(work.sequence, sequence_count - 1);
    work.starts = locate_sequence(work.near_sequence);
    work.tile = group % tiles_per_sequence;
    work.first_entry = work.tile * PER_THREAD << LOG_THREADS;
    return work;
}

void begin_counts(uint thread) {
    if (thread < MOST_SEQUENCES) {
        limits[thread] = 0xffffffff;
        limits[MOST_SEQUENCES + thread] = 0;
        picked_counts[thread] = 0;
        picked_counts[MOST_SEQUENCES + thread] = 0;
        counts[thread] = 0;
    }
    if (thread == 0) {
        has_no_room = 0;
    }
}

// Row j of a tile has one entry of each thread.
uint position_in_row(uint row, uint lane) {
    return (row << LOG_THREADS) + (lane + row * ROTATION & THREADS - 1);
}

uint source_key(uint3 starts, uint sequence, uint entry) {
#if FROM_TENSOR
    return key_of_element(starts.x, entry);
#else
    return source[sequence * entry_count + entry].x;
#endif
}

// Loads a thread's keys, and returns the best one. Without branches, so that the loads overlap.
uint load_keys(inout uint keys[PER_THREAD], Work work) {
    uint best = 0xffffffff;
    [unroll] for (uint j = 0; j < PER_THREAD; ++j) {
        const uint entry = number_of_entry(work.first_entry + position_in_row(j, work.lane));
        const uint key = source_key(work.starts, work.near_sequence, min(entry, entry_count - 1));
        keys[j] = entry < entry_count ? key : 0xffffffff;
        best = min(best, keys[j]);
    }
    return best;
}

// The number of the sequence's threads with a better best entry. Drivers combine reads of four adjacent words.
uint threads_before(uint best, uint first_best) {
    uint count = 0;
    [loop] for (uint i = 0; i < THREADS; i += 8) {
        const uint slot = first_best + i;
        count += (best_keys[slot] < best ? 1 : 0) + (best_keys[slot + 1] < best ? 1 : 0);
        count += (best_keys[slot + 2] < best ? 1 : 0) + (best_keys[slot + 3] < best ? 1 : 0);
        count += (best_keys[slot + 4] < best ? 1 : 0) + (best_keys[slot + 5] < best ? 1 : 0);
        count += (best_keys[slot + 6] < best ? 1 : 0) + (best_keys[slot + 7] < best ? 1 : 0);
    }
    return count;
}

// The first attempt: only the keys of some threads are tried as limits.
void try_limits(uint best, Work work) {
    const uint tried = max(THREADS / 4, min(THREADS, 32));
    [branch] if (work.lane < tried) {
        if (threads_before(best, work.first_best) + 1 >= k) {
            InterlockedMin(limits[work.sequence_in_group], best);
        }
    }
}

// Picks a thread's entries that are not beyond the limit. Of those that equal it, only entries of the first rows.
void pick(uint keys[PER_THREAD], uint best, uint limit, uint rows, uint attempt, Work work) {
    uint last_slot = 0;
    [branch] if (best <= limit) {
        [unroll] for (uint j = 0; j < PER_THREAD; ++j) {
            [branch] if (keys[j] < limit || (keys[j] == limit && j < rows)) {
                uint slot;
                InterlockedAdd(picked_counts[attempt], 1, slot);
                last_slot = max(last_slot, slot);
                if (slot < ROOM_OF_EACH) {
                    picked_entries[2 * (work.first_picked + slot)] = keys[j];
                    picked_entries[2 * (work.first_picked + slot) + 1] = position_in_row(j, work.lane);
                }
            }
        }
    }
    if (last_slot >= ROOM_OF_EACH) {
        has_no_room = 1;
    }
}

// The second attempt: the k-th of all threads' best keys.
uint exact_limit(uint best, uint attempt, Work work) {
    if (threads_before(best, work.first_best) < k) {
        InterlockedMax(limits[attempt], best);
    }
    GroupMemoryBarrierWithGroupSync();
    return limits[attempt];
}

// Counts the entries before the limit and at it.
void count_entries(uint keys[PER_THREAD], uint best, uint limit, Work work) {
    uint own_before = 0;
    uint own_at = 0;
    uint own_bits = 0;
    [unroll] for (uint j = 0; j < PER_THREAD; ++j) {
        own_before += keys[j] < limit ? 1 : 0;
        own_at += keys[j] == limit ? 1 : 0;
        own_bits |= keys[j] == limit ? 1u << j : 0;
    }
    entries_at_limit[work.first_worker + work.lane] = own_bits;
    if (best <= limit) {
        InterlockedAdd(counts[work.sequence_in_group], own_before + (own_at << 16));
    }
    GroupMemoryBarrierWithGroupSync();
}

// The number of entries of a row that equal the limit.
uint entries_of_row(uint row, uint first) {
    uint count = 0;
    [loop] for (uint i = 0; i < THREADS; ++i) {
        count += entries_at_limit[first + i] >> row & 1;
    }
    return count;
}

// The number of rows, from the first one on, that contain this many entries at the limit.
uint rows_with(uint wanted, uint sequence) {
    uint rows = 0;
    uint found = 0;
    [loop] while (found < wanted) {
        found += row_counts[sequence * PER_THREAD + rows];
        ++rows;
    }
    return rows;
}

// The rows whose entries at the limit are picked: as many as are needed for k entries.
uint rows_at_limit(Work work) {
    const uint before_limit = counts[work.sequence_in_group] & 0xffff;
    const uint at_limit = counts[work.sequence_in_group] >> 16;
    const uint wanted_at_limit = k > before_limit ? k - before_limit : 0;
    const bool are_too_many = at_limit > wanted_at_limit;
    if (are_too_many && wanted_at_limit > 0) {
        [loop] for (uint i = work.lane; i < PER_THREAD; i += THREADS) {
            row_counts[work.sequence_in_group * PER_THREAD + i] = entries_of_row(i, work.first_worker);
        }
    }
    GroupMemoryBarrierWithGroupSync();
    uint rows = PER_THREAD;
    if (are_too_many) {
        rows = rows_with(wanted_at_limit, work.sequence_in_group);
    }
    return rows;
}

// Picks the entries of all threads that can be winners. Returns their number.
uint pick_entries(uint keys[PER_THREAD], uint best, Work work) {
    uint limit = limits[work.sequence_in_group];
    uint rows = PER_THREAD;
    uint picked_count = 0;
    uint attempt = work.sequence_in_group;  // the index of its limit and counts
    [loop] while (true) {
        pick(keys, best, limit, rows, attempt, work);
        GroupMemoryBarrierWithGroupSync();
        picked_count = picked_counts[attempt];
        if (attempt >= MOST_SEQUENCES || has_no_room == 0) {
            break;
        }
        // Repeat for all sequences of the group.
        attempt += MOST_SEQUENCES;
        limit = exact_limit(best, attempt, work);
        count_entries(keys, best, limit, work);
        rows = rows_at_limit(work);
    }
    return picked_count;
}

// 1 if the picked entry with this number comes before `entry`, otherwise 0.
uint is_before(uint number, uint2 entry) {
    const uint key = picked_entries[2 * number];
    const uint position = picked_entries[2 * number + 1];
    return key < entry.x || (key == entry.x && position < entry.y) ? 1 : 0;
}

uint picked_before(uint2 entry, uint first_picked, uint count) {
    uint before = 0;
    uint i = 0;
    [loop] for (; i + 4 <= count; i += 4) {
        const uint first = first_picked + i;
        before += is_before(first, entry) + is_before(first + 1, entry);
        before += is_before(first + 2, entry) + is_before(first + 3, entry);
    }
    [loop] for (; i < count; ++i) {
        before += is_before(first_picked + i, entry);
    }
    return before;
}

// Leaves an entry whose rank is known for the outputs, or for the next pass.
void put_winner(uint2 entry, uint rank, Work work) {
    uint index = number_of_entry(work.first_entry + entry.y);
#if !FROM_TENSOR
    index = index < entry_count ? source[work.near_sequence * entry_count + index].y : 0xffffffff;
#endif
#if TO_TENSOR
    winner_indices[work.sequence_in_group * k + rank] = index;
#else
    if (work.exists) {
        candidates[(work.sequence * tiles_per_sequence + work.tile) * k + rank] = uint2(entry.x, index);
    }
#endif
}

void rank_picked(uint picked_count, Work work) {
    [loop] for (uint i = work.lane; i < picked_count; i += THREADS) {
        const uint slot = work.first_picked + i;
        const uint2 entry = uint2(picked_entries[2 * slot], picked_entries[2 * slot + 1]);
        const uint rank = picked_before(entry, work.first_picked, picked_count);
        if (rank < k) {
            put_winner(entry, rank, work);
        }
    }
}

#if TO_TENSOR
void store_winners(Work work) {
    const uint first_slot = work.sequence_in_group * k;
    uint i;
    if (work.exists) {
        const uint units = value_units(work.starts);
        [loop] for (i = work.lane; i < units; i += THREADS) {
            store_value_unit(work.starts, first_slot, i);
        }
        [loop] for (i = work.lane; i < k; i += THREADS) {
            store_index(work.starts, first_slot, i);
        }
    }
}
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const Work work = work_of(linear_group(group_id), thread);
    begin_counts(thread);
#if CHUNKS
    sort_chunks(work.near_sequence, thread);
#endif
    uint keys[PER_THREAD];
    const uint best = load_keys(keys, work);
    best_keys[work.first_best + work.lane] = best;
    GroupMemoryBarrierWithGroupSync();
    try_limits(best, work);
    GroupMemoryBarrierWithGroupSync();
    const uint picked_count = pick_entries(keys, best, work);
    rank_picked(picked_count, work);
#if TO_TENSOR
    GroupMemoryBarrierWithGroupSync();
    store_winners(work);
#endif
}

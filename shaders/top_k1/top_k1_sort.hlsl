// TOP_K1, one tile at a time: sorts each sequence completely, mostly in registers.
//
// A tile is several complete short sequences, or a part of a long one, which leaves candidates for another pass. A
// sequence has a power of two of slots, and each of its threads holds 16 entries at a time.
//
// It is a bitonic network. Phase p merges pairs of runs, one ascending and one descending, to sorted runs of 2^p slots:
// slots that differ in bit p - 1 of their index are compared first, then those that differ in the lower bits. A thread
// holds the slots that differ in four adjacent bits, so it can process four bits before entries are exchanged in
// groupshared memory. Runs that must descend are complemented, so that all threads compare in the same direction.
//
// Entries with equal keys are ordered by their positions in the tile: see top_k1_few.hlsl.
//
// FROM_TENSOR  1: sorts elements of the input. 0: candidates of a preceding pass.
// TO_TENSOR    1: sequences are complete, winners go to the outputs. 0: to sorted candidates, `kept` for each tile.
// NARROW       1: elements of 8 or 16 bits. A word has room for the key and the position.
// GROUP_SIZE   64 for sequences of up to 1,024 slots, otherwise 256

#define KEY_WORDS 1

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/top_k1/top_k1_entry.hlsli"
#include "shaders/top_k1/top_k1_parameters.hlsli"

#define LOG_PER_THREAD 4
#define PER_THREAD TOP_K1_SORTED_PER_THREAD
#define TILE (GROUP_SIZE * PER_THREAD)

groupshared uint tile_keys[TILE];
#if NARROW
// The position follows the key.
#define POSITION_MASK 0xffffu
#else
groupshared uint tile_positions[TILE];
#endif

// The address of a slot in groupshared memory. Whichever four bits distinguish a thread's slots, 32 adjacent threads
// access different banks. The mapping is linear: address_of(a ^ b) == address_of(a) ^ address_of(b).
uint address_of(uint slot) {
    return slot ^ (slot >> 4 & 0x1e) ^ (slot >> 8 & 1);
}

uint position_at(uint slot) {
#if NARROW
    return tile_keys[address_of(slot)] & POSITION_MASK;
#else
    return tile_positions[address_of(slot)];
#endif
}

uint key_at(uint slot) {
#if NARROW
    return tile_keys[address_of(slot)] & ~POSITION_MASK;
#else
    return tile_keys[address_of(slot)];
#endif
}

uint winner(uint slot) {
    return position_at(slot);
}

#define KEY_OF_WINNER(slot) key_at(slot)

#include "shaders/top_k1/top_k1_tensors.hlsli"

#include "shaders/top_k1/top_k1_candidates.hlsli"

// The entries that a thread holds in registers. They are single variables instead of arrays, and macros that change
// them have no braces of their own: vkd3d 2.1 would lose the changes.
#define FOR_ALL(DO) \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define DECLARE(entry) static uint key_##entry; static uint position_##entry; static uint address_##entry;
FOR_ALL(DECLARE)

// Sorts two entries.
#if NARROW
void order(inout uint key, inout uint other_key) {
    const uint lower = min(key, other_key);
    other_key = max(key, other_key);
    key = lower;
}
#define ORDER(a, b) order(key_##a, key_##b);
#else
void order(inout uint key, inout uint position, inout uint other_key, inout uint other_position) {
    const bool swaps = other_key < key || (other_key == key && other_position < position);
    // Without the conditional operator: vkd3d 2.1 takes exponentially long for nested ones.
    const uint mask = swaps ? 0xffffffff : 0;
    const uint lower_position = (position & ~mask) | (other_position & mask);
    other_position = (other_position & ~mask) | (position & mask);
    position = lower_position;
    const uint lower_key = min(key, other_key);
    other_key = max(key, other_key);
    key = lower_key;
}
#define ORDER(a, b) order(key_##a, position_##a, key_##b, position_##b);
#endif

// Sorts all pairs whose indices differ in one bit.
#define ORDER_BY_BIT_0 \
    ORDER(0, 1) ORDER(2, 3) ORDER(4, 5) ORDER(6, 7) ORDER(8, 9) ORDER(10, 11) ORDER(12, 13) ORDER(14, 15)
#define ORDER_BY_BIT_1 \
    ORDER(0, 2) ORDER(1, 3) ORDER(4, 6) ORDER(5, 7) ORDER(8, 10) ORDER(9, 11) ORDER(12, 14) ORDER(13, 15)
#define ORDER_BY_BIT_2 \
    ORDER(0, 4) ORDER(1, 5) ORDER(2, 6) ORDER(3, 7) ORDER(8, 12) ORDER(9, 13) ORDER(10, 14) ORDER(11, 15)
#define ORDER_BY_BIT_3 \
    ORDER(0, 8) ORDER(1, 9) ORDER(2, 10) ORDER(3, 11) ORDER(4, 12) ORDER(5, 13) ORDER(6, 14) ORDER(7, 15)

// The best known sorting network for 16 entries (M. W. Green, 1969).
void sort_own() {
    ORDER_BY_BIT_0
    ORDER_BY_BIT_1
    ORDER_BY_BIT_2
    ORDER_BY_BIT_3
    ORDER(5, 10) ORDER(6, 9) ORDER(3, 12) ORDER(13, 14) ORDER(4, 8) ORDER(7, 11) ORDER(1, 2)
    ORDER(1, 4) ORDER(7, 13) ORDER(2, 8) ORDER(11, 14)
    ORDER(2, 4) ORDER(5, 6) ORDER(9, 10) ORDER(11, 13) ORDER(3, 8) ORDER(7, 12)
    ORDER(6, 8) ORDER(10, 12) ORDER(3, 5) ORDER(7, 9)
    ORDER(3, 4) ORDER(5, 6) ORDER(7, 8) ORDER(9, 10) ORDER(11, 12)
    ORDER(6, 7) ORDER(8, 9)
}

// Computes the addresses of the thread's slots, which differ in the four bits from this one on.
void find_addresses(uint worker, uint lowest_bit) {
    const uint bits_below = worker & (1u << lowest_bit) - 1;
    const uint step_0 = address_of(1u << lowest_bit);
    const uint step_1 = address_of(2u << lowest_bit);
    const uint step_2 = address_of(4u << lowest_bit);
    const uint step_3 = address_of(8u << lowest_bit);
    address_0 = address_of((worker - bits_below << LOG_PER_THREAD) + bits_below);
    address_1 = address_0 ^ step_0;
    address_2 = address_0 ^ step_1;
    address_3 = address_1 ^ step_1;
    address_4 = address_0 ^ step_2;
    address_5 = address_1 ^ step_2;
    address_6 = address_2 ^ step_2;
    address_7 = address_3 ^ step_2;
    address_8 = address_0 ^ step_3;
    address_9 = address_1 ^ step_3;
    address_10 = address_2 ^ step_3;
    address_11 = address_3 ^ step_3;
    address_12 = address_4 ^ step_3;
    address_13 = address_5 ^ step_3;
    address_14 = address_6 ^ step_3;
    address_15 = address_7 ^ step_3;
}

#if NARROW
#define PUT(entry) tile_keys[address_##entry] = key_##entry ^ complement;
#define GET(entry) key_##entry = tile_keys[address_##entry];
#else
#define PUT(entry)                                         \
    tile_keys[address_##entry] = key_##entry ^ complement; \
    tile_positions[address_##entry] = position_##entry ^ complement;
#define GET(entry)                            \
    key_##entry = tile_keys[address_##entry]; \
    position_##entry = tile_positions[address_##entry];
#endif

void put_entries(uint complement) {
    FOR_ALL(PUT)
    GroupMemoryBarrierWithGroupSync();
}

void get_entries() {
    FOR_ALL(GET)
}

// In phase p, runs whose slots have bit p set descend, except in the last phase. All slots of a thread share that bit;
// they must be consecutive.
uint complement_in(uint phase, uint worker) {
    return phase < log_threads + LOG_PER_THREAD ? 0 - (worker >> phase - LOG_PER_THREAD & 1) : 0;
}

// Sorts the entries of all threads into the tile.
void sort_tile(uint worker) {
    const uint log_slots = log_threads + LOG_PER_THREAD;
    sort_own();
    find_addresses(worker, 0);
    put_entries(complement_in(LOG_PER_THREAD, worker) ^ complement_in(LOG_PER_THREAD + 1, worker));
    [loop] for (uint phase = LOG_PER_THREAD + 1; phase <= log_slots; ++phase) {
        const uint next_complement = complement_in(phase, worker) ^ complement_in(phase + 1, worker);
        uint bits = phase;
        [loop] while (bits > 0) {
            const uint lowest_bit = max(bits, LOG_PER_THREAD) - LOG_PER_THREAD;
            find_addresses(worker, lowest_bit);
            get_entries();
            const uint compared = bits - lowest_bit;
            [branch] if (compared > 3) {
                ORDER_BY_BIT_3
            }
            [branch] if (compared > 2) {
                ORDER_BY_BIT_2
            }
            [branch] if (compared > 1) {
                ORDER_BY_BIT_1
            }
            ORDER_BY_BIT_0
            bits = lowest_bit;
            put_entries(bits == 0 ? next_complement : 0);
        }
    }
}

// The key of an entry, or a placeholder.
uint source_key(uint3 starts, uint sequence, uint entry) {
    const uint near_entry = min(entry, entry_count - 1);
#if FROM_TENSOR
    const uint key = key_of_element(starts.x, near_entry);
#else
    const uint key = source[sequence * entry_count + near_entry].x;
#endif
    return entry < entry_count ? key : 0xffffffff;
}

// Row j of a tile has one entry of each thread.
#define POSITION(j) ((j << log_threads) + lane)
#if NARROW
#define LOAD(j)                                                                                               \
    key_##j = source_key(starts, near_sequence, first_entry + POSITION(j)) & ~POSITION_MASK | POSITION(j);    \
    key_##j ^= complement;
#else
#define LOAD(j)                                                                                               \
    key_##j = source_key(starts, near_sequence, first_entry + POSITION(j)) ^ complement;                      \
    position_##j = POSITION(j) ^ complement;
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint threads = 1u << log_threads;  // per sequence
    const uint log_slots = log_threads + LOG_PER_THREAD;
    const uint log_sequences = firstbithigh(GROUP_SIZE) - log_threads;
    const uint sequence_in_group =
        sequences_side_by_side ? thread & (1u << log_sequences) - 1 : thread >> log_threads;
    const uint lane = sequences_side_by_side ? thread >> log_sequences : thread & threads - 1;
    // The thread's index if the threads of each sequence were adjacent.
    const uint worker = (sequence_in_group << log_threads) + lane;
    const uint sequence = (linear_group(group_id) / tiles_per_sequence << log_sequences) + sequence_in_group;
    const uint tile = linear_group(group_id) % tiles_per_sequence;
    const uint first_entry = tile << log_slots;
    const bool exists = sequence < sequence_count;
    const uint near_sequence = min(sequence, sequence_count - 1);
    const uint3 starts = locate_sequence(near_sequence);
    const uint complement = complement_in(LOG_PER_THREAD, worker);

    // In any order, so that adjacent threads read adjacent words.
    FOR_ALL(LOAD)
    sort_tile(worker);

    const uint first_slot = sequence_in_group << log_slots;
    uint i;
#if TO_TENSOR
#if !FROM_TENSOR
    [loop] for (i = lane; i < k; i += threads) {
        const uint address = address_of(first_slot + i);
        tile_positions[address] = source[near_sequence * entry_count + tile_positions[address]].y;
    }
    GroupMemoryBarrierWithGroupSync();
#endif
    if (exists) {
        const uint units = value_units(starts);
        [loop] for (i = lane; i < units; i += threads) {
            store_value_unit(starts, first_slot, i);
        }
        [loop] for (i = lane; i < k; i += threads) {
            store_index(starts, first_slot, i);
        }
    }
#else
    if (exists) {
        [loop] for (i = lane; i < kept; i += threads) {
            const uint entry = first_entry + position_at(first_slot + i);
#if FROM_TENSOR
            const uint index = entry < entry_count ? entry : 0xffffffff;
#else
            const uint index = entry < entry_count ? source[sequence * entry_count + entry].y : 0xffffffff;
#endif
            candidates[(sequence * tiles_per_sequence + tile) * kept + i] = uint2(key_at(first_slot + i), index);
        }
    }
#endif
}

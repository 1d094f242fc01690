// TOP_K1 of very long sequences, first pass: finds the best key of each chunk, which is a segment of contiguous
// elements.
//
// All winners are in the k chunks that come first when sorted by best key, then by index. An element of another chunk
// comes after the best elements of all these chunks: each of these has a better key, or an equal key and a lower index,
// because its chunk does. So a complete selection is only needed for these k chunks: CHUNKS in top_k1_few.hlsl.
//
// WORDS  1: elements of the input are words. 0: of any size.

#define KEY_WORDS 1
#define FROM_TENSOR 1
#define TO_TENSOR 0

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/top_k1/top_k1_entry.hlsli"
#include "shaders/top_k1/top_k1_parameters.hlsli"

// A group reads this many parts of chunks, one after another; they form complete chunks. A row has one element of each
// thread.
#define PARTS TOP_K1_PARTS
#define ROWS_PER_PART 4
#define LOG_PART TOP_K1_LOG_PART
#define PARTS_AT_ONCE 8
// Strides are chosen so that the threads of a reduction read from different banks.
#define ROW_STRIDE (GROUP_SIZE + PARTS)
#define SHARE_STRIDE (PARTS + 1)
#if WORDS
#define ELEMENT_PACKING 0
#endif

groupshared uint thread_keys[PARTS * ROW_STRIDE];   // for each part, by thread
groupshared uint share_keys[PARTS * SHARE_STRIDE];  // for each part, by 16 of the threads
groupshared uint part_keys[PARTS];

uint winner(uint slot) {
    return slot;
}

#include "shaders/top_k1/top_k1_tensors.hlsli"

#include "shaders/top_k1/top_k1_candidates.hlsli"

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint sequence = linear_group(group_id) / tiles_per_sequence;
    const uint first_part = linear_group(group_id) % tiles_per_sequence * PARTS;
    const uint start = locate_sequence(min(sequence, sequence_count - 1)).x;
    uint part;
    uint i;

    [loop] for (part = 0; part < PARTS; part += PARTS_AT_ONCE) {
        // Without branches, so that a thread waits once for all of them. The last element stands for those beyond it,
        // which are in its chunk or in none.
        uint keys[PARTS_AT_ONCE];
        [unroll] for (i = 0; i < PARTS_AT_ONCE; ++i) {
            keys[i] = 0xffffffff;
            [unroll] for (uint row = 0; row < ROWS_PER_PART; ++row) {
                const uint element = (first_part + part + i << LOG_PART) + row * GROUP_SIZE + thread;
                keys[i] = min(keys[i], key_of_element(start, min(element, entry_count - 1)));
            }
        }
        [unroll] for (i = 0; i < PARTS_AT_ONCE; ++i) {
            thread_keys[(part + i) * ROW_STRIDE + thread] = keys[i];
        }
    }
    GroupMemoryBarrierWithGroupSync();

    part = thread / PARTS;
    const uint share = thread % PARTS;
    uint best = 0xffffffff;
    [unroll] for (i = 0; i < GROUP_SIZE / PARTS; ++i) {
        best = min(best, thread_keys[part * ROW_STRIDE + i * PARTS + share]);
    }
    share_keys[part * SHARE_STRIDE + share] = best;
    GroupMemoryBarrierWithGroupSync();

    if (thread < PARTS) {
        best = 0xffffffff;
        [unroll] for (i = 0; i < PARTS; ++i) {
            best = min(best, share_keys[thread * SHARE_STRIDE + i]);
        }
        part_keys[thread] = best;
    }
    GroupMemoryBarrierWithGroupSync();

    const uint parts = 1u << log_chunk - LOG_PART;  // parts in each chunk
    const uint chunk = (first_part << LOG_PART >> log_chunk) + thread;
    const uint chunk_count = (entry_count - 1 >> log_chunk) + 1;
    if (thread * parts < PARTS && chunk < chunk_count && sequence < sequence_count) {
        best = 0xffffffff;
        [loop] for (i = 0; i < parts; ++i) {
            best = min(best, part_keys[thread * parts + i]);
        }
        candidates[sequence * chunk_count + chunk] = uint2(best, chunk);
    }
}

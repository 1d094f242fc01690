// TOP_K1, after merging: writes sorted winners to the outputs. Each thread writes one unit of values and the
// corresponding indices.
//
// KEY_WORDS  see top_k1_entry.hlsli

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/top_k1/top_k1_entry.hlsli"

RWStructuredBuffer<StoredEntry> winners : register(u3);

uint winner(uint slot) {
    return entry_from(winners[slot]).index;
}

#include "shaders/top_k1/top_k1_tensors.hlsli"

// `entry_count` is the number of groups for each sequence.
[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint sequence_number = linear_group(group_id) / entry_count;
    const uint unit = linear_group(group_id) % entry_count * GROUP_SIZE + thread;
    if (sequence_number < sequence_count) {
        const uint3 sequence = locate_sequence(sequence_number);
        if (unit < value_units(sequence)) {
            store_value_unit(sequence, sequence_number * k, unit);
        }
        if (unit < k) {
            store_index(sequence, sequence_number * k, unit);
        }
    }
}

// TOP_K1, merging for large K: pairs of sorted runs are merged to runs of twice the length, or of K entries.
//
// Each thread group computes CHUNK entries of one merged run, from a segment of each run.
//
// KEY_WORDS  see top_k1_entry.hlsli

#include "shaders/common/dispatch.hlsli"
#include "shaders/top_k1/top_k1_entry.hlsli"
#include "shaders/top_k1/top_k1_merge_parameters.hlsli"

#define CHUNK TOP_K1_MERGED_CHUNK

RWStructuredBuffer<StoredEntry> runs : register(u0);
RWStructuredBuffer<StoredEntry> merged : register(u1);

groupshared StoredEntry segment[CHUNK];
groupshared uint splits[2];

// How many of the merged run's first entries come from the first run: a binary search along a diagonal ("merge path").
uint split_at(uint rank, uint first_run, uint first_length, uint second_run, uint second_length) {
    uint low = rank > second_length ? rank - second_length : 0;
    uint high = min(rank, first_length);
    [loop] while (low < high) {
        const uint middle = (low + high) / 2;
        if (before(entry_from(runs[second_run + rank - 1 - middle]), entry_from(runs[first_run + middle]))) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// How many of the entries first … last - 1 of the segment come before `entry`; with `or_equal`, including equal ones.
uint count_before(Entry entry, uint first, uint last, bool or_equal) {
    uint low = first;
    uint high = last;
    [loop] while (low < high) {
        const uint middle = (low + high) / 2;
        const Entry there = entry_from(segment[middle]);
        if (before(there, entry) || (or_equal && !before(entry, there))) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - first;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint chunk = linear_group(group_id) % chunks_per_run;
    const uint merged_run = min(linear_group(group_id), group_count - 1) / chunks_per_run;
    const uint pair = merged_run % merged_count;
    const uint first_run = (merged_run / merged_count * run_count + 2 * pair) * run_length;
    const uint second_run = first_run + run_length;
    // The last run may have no partner.
    const uint second_length = 2 * pair + 1 < run_count ? run_length : 0;
    const uint begin = min(chunk * CHUNK, run_length + second_length);
    const uint end = min(min(chunk * CHUNK + CHUNK, merged_length), run_length + second_length);
    if (thread < 2) {
        splits[thread] = split_at(thread == 0 ? begin : end, first_run, run_length, second_run, second_length);
    }
    GroupMemoryBarrierWithGroupSync();

    const uint first_count = splits[1] - splits[0];
    const uint second_begin = begin - splits[0];
    uint i;
    [loop] for (i = thread; i < end - begin; i += GROUP_SIZE) {
        segment[i] = i < first_count ? runs[first_run + splits[0] + i]
                                     : runs[second_run + second_begin + i - first_count];
    }
    GroupMemoryBarrierWithGroupSync();

    const uint target = merged_run * merged_length + begin;
    [loop] for (i = thread; i < end - begin; i += GROUP_SIZE) {
        const Entry entry = entry_from(segment[i]);
        // Placeholders are equal; those of the first run come first.
        const uint rank = i < first_count ? i + count_before(entry, first_count, end - begin, false)
                                          : i - first_count + count_before(entry, 0, first_count, true);
        merged[target + rank] = segment[i];
    }
    [loop] for (i = max(end, begin) + thread; i < min(chunk * CHUNK + CHUNK, merged_length); i += GROUP_SIZE) {
        merged[merged_run * merged_length + i] = stored_from(no_entry());
    }
}

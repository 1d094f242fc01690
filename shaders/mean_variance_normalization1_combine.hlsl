// MEAN_VARIANCE_NORMALIZATION and its successors, between reading and writing sets that do not fit a group: one group
// for each set brings together what others found of its chunks (Chan, Golub & LeVeque 1983), in an order that depends
// on nothing but their number.

#define HALF 0
#define VECTOR 0
#define FUSED 0
#include "mean_variance_normalization1.hlsli"

groupshared float partial_sums[GROUP_SIZE];

float sum_over_group(float value, uint thread) {
    partial_sums[thread] = value;
    [loop] for (uint gap = GROUP_SIZE / 2; gap > 0; gap /= 2) {
        GroupMemoryBarrierWithGroupSync();
        if (thread < gap) {
            partial_sums[thread] += partial_sums[thread + gap];
        }
    }
    GroupMemoryBarrierWithGroupSync();
    const float result = partial_sums[0];
    GroupMemoryBarrierWithGroupSync();
    return result;
}

// How far a chunk's mean is from `mean`. From an infinite one: no distance, unless the mean of both is none.
float distance_from(float mean, float4 chunk) {
    precise const float neither = chunk.x + mean;  // NaN where it is used
    float distance = (chunk.x - mean) + chunk.y;
    if (is_infinite(mean)) {
        distance = is_nan(chunk.x) || chunk.x == -mean ? neither : 0;
    }
    return distance;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint set = min(linear_group(group_id), set_count - 1);
    const uint first_chunk = set * chunk_count;
    // Means are added up relative to the first one, which keeps their differences' bits.
    const float mean = chunks[first_chunk].x;
    uint i;
    float weighted = 0;
    [loop] for (i = thread; i < chunk_count; i += GROUP_SIZE) {
        weighted += chunks[first_chunk + i].w * distance_from(mean, chunks[first_chunk + i]);
    }
    const float lacking = sum_over_group(weighted, thread) / set_size;
    float squares = 0;
    [loop] for (i = thread; i < chunk_count; i += GROUP_SIZE) {
        const float4 chunk = chunks[first_chunk + i];
        const float deviation = distance_from(mean, chunk) - lacking;
        squares += chunk.z + chunk.w * deviation * deviation;
    }
    const float total = sum_over_group(squares, thread);
    if (thread == 0 && linear_group(group_id) < set_count) {
        statistics[set] = finished(mean, lacking, total);
    }
}

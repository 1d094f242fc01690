// MEAN_VARIANCE_NORMALIZATION and its successors, second of three passes for sets that do not fit a thread group: one
// group for each set merges the statistics of its chunks (Chan, Golub & LeVeque 1983). The order depends only on their
// number.

#define HALF HALF_NONE
#define VECTOR 0
#define FUSED 0
#include "shaders/normalisation/mean_variance_normalization1.hlsli"

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

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint set = min(linear_group(group_id), set_count - 1);
    const uint first_chunk = set * chunk_count;
    const float first = chunks[first_chunk].x;
    uint i;
    // Means are weighted by chunk size, so that their sum is the total mean.
    float weighted = 0;
    float differs = 0;
    [loop] for (i = thread; i < chunk_count; i += GROUP_SIZE) {
        const float4 chunk = chunks[first_chunk + i];
        weighted += chunk.x * (chunk.w / set_size);
        // All elements of a chunk are equal only if its mean has no error and its variance is 0.
        differs += chunk.x != first || chunk.y != 0 || chunk.z != 0 ? 1 : 0;
    }
    const float sum = sum_over_group(weighted, thread);
    const float mean = subtract_mean ? sum : 0;
    const bool differ = sum_over_group(differs, thread) != 0;
    float sums = 0;
    float squares = 0;
    [loop] for (i = thread; i < chunk_count; i += GROUP_SIZE) {
        const float4 chunk = chunks[first_chunk + i];
        const float away = (chunk.x - mean) + chunk.y;
        sums += chunk.w * away;
        squares += chunk.z + chunk.w * away * away;
    }
    const float sum_of_all = sum_over_group(sums, thread);
    const float4 whole = found(mean, sum_of_all, sum_over_group(squares, thread), set_size, differ, first);
    if (thread == 0 && linear_group(group_id) < set_count) {
        statistics[set] = finished(whole.x, whole.y, whole.z);
    }
}

// Attention: adds position biases and masks to the scores, in place.

#include "enumerations.hlsli"
#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/attention/attention_scores_parameters.hlsli"

RWStructuredBuffer<uint> scores : register(u0);
RWStructuredBuffer<uint> position_biases : register(u1);
RWStructuredBuffer<uint> masks : register(u2);

#define POSITION_BIAS_OFFSET offsets[0].y
#define MASK_OFFSET offsets[0].z
#define QUERY offsets[0].w
#define KEY offsets[1].x

// Evaluates the mask's numbers for the score's batch, which begin at `start`.
bool is_valid(uint start, int query, int key) {
    const int first = int(masks[start + mask_starts.x]);
    if (mask_type == DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH) {
        return key < first;
    }
    const int second = int(masks[start + mask_starts.y]);
    if (mask_type == DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START) {
        return second <= key && key < first;
    }
    const int queries_end = int(masks[start + mask_starts.z]);
    const int keys_start = int(masks[start + mask_starts.w]);
    // The end of the keys may exceed 32 bits. The distance of a key from the start does not.
    return second <= query && query < queries_end && keys_start <= key && first > 0 &&
           uint(key - keys_start) < uint(first);
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < element_count) {
        STRIDED_OFFSETS(offsets, ATTENTION_SCORES_ROWS, number, dimensions, dimension_count)
        float score = asfloat(scores[number]);
        [branch] if (has_position_bias) {
            score += real_of(LOAD_ELEMENT(position_biases, packing, POSITION_BIAS_OFFSET), packing);
        }
        [branch] if (mask_type == DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN) {
            const int mask = int(masks[MASK_OFFSET]);
            // If the mask is 1, nothing is added: the product of 0 and an infinity would be NaN.
            score += mask == 1 ? 0 : (1 - float(mask)) * filter_value;
        } else if (mask_type != DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE) {
            score += is_valid(MASK_OFFSET, int(QUERY), int(KEY)) ? 0 : filter_value;
        }
        scores[number] = asuint(score);
    }
}

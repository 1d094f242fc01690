// MEAN_VARIANCE_NORMALIZATION and its successors, last pass for sets that are not lines of whole vectors, if they do
// not fit a thread group or are FLOAT16. Each thread computes one element of the output, or the two elements of a word.
//
// HALF, FUSED: see mean_variance_normalization1.hlsli

#define VECTOR 0
#include "shaders/normalisation/mean_variance_normalization1.hlsli"

Item normalised_item_at(Offsets offsets) {
    const Item item = load_item(offsets.input);
    return normalised_item(first_numbers(item), second_numbers(item), statistics[offsets.set], offsets);
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
#if HALF
    if (output_is_packed) {
        uint word = 0;
        [loop] for (uint i = 0; i < 2 && 2 * number + i < item_count; ++i) {
            const Offsets offsets = offsets_of_item((Offsets)0, 2 * number + i);
            word |= normalised_item_at(offsets) << (16 * i);
        }
        if (2 * number < item_count) {
            output[number] = word;
        }
    } else if (number < item_count) {
        const Offsets offsets = offsets_of_item((Offsets)0, number);
        const uint item = normalised_item_at(offsets);
        STORE_ELEMENT(output, 1, offsets.output, item)
    }
#else
    if (number < item_count) {
        const Offsets offsets = offsets_of_item((Offsets)0, number);
        output[offsets.output] = normalised_item_at(offsets);
    }
#endif
}

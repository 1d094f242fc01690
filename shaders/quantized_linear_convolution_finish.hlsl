// QUANTIZED_LINEAR_CONVOLUTION, after a sum in slices: adds these up, in 64 bits, and computes the outputs. Each thread
// makes four that follow one another, a whole word of a packed output.

#define FINISH 0
#include "quantized_linear_convolution.hlsli"

#define GROUP_SIZE 256

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint element_count = element_total();
    const uint word_number = linear_group(group_id) * GROUP_SIZE + thread;
    const int zero = output_zero();
    uint word = 0;
    [loop] for (uint j = 0; j < 4 && word_number * 4 + j < element_count; ++j) {
        const uint element = word_number * 4 + j;
        int2 sum = 0;
        [loop] for (uint slice = 0; slice < slice_count; ++slice) {
            const int2 more = widened(slice_sums[slice * element_count + element]);
            const uint low = uint(sum.x) + uint(more.x);
            sum = int2(int(low), sum.y + more.y + (low < uint(more.x) ? 1 : 0));
        }
        const uint2 position = uint2(element / output_size.y % output_size.x, element % output_size.y);
        const uint plane = element / output_size.y / output_size.x;
        const uint channel = plane % output_channels;
        const uint bits = requantise(sum, bias_of(channel), multiplier_of(channel), zero);
        if (output_is_packed) {
            word |= bits << (j * 8);
        } else {
            const uint offset = dot(uint4(plane / output_channels, channel, position), output_strides);
            STORE_ELEMENT(output, BYTES, offset, bits)
        }
    }
    if (output_is_packed && word_number * 4 < element_count) {
        output[word_number] = word;
    }
}

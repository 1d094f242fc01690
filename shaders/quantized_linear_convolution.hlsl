// QUANTIZED_LINEAR_CONVOLUTION, whatever its shape: each thread makes four output elements that follow one another, a
// whole word of a packed output. Those in one row share the filter.
//
// FINISH  see quantized_linear_convolution.hlsli

#include "quantized_linear_convolution.hlsli"

#define GROUP_SIZE 256

// Sums over a slice's taps for four outputs of a channel, from `position` on in its row, or beyond it: to be ignored.
int4 convolve(uint image, uint channel, uint2 position, uint first_tap, uint last_tap) {
    const uint group = channel / group_output_channels;
    const int input_zero_value = input_zero();
    const int filter_zero_value = filter_zero(channel);
    const uint2 origin = window_origin(position);
    const uint4 columns = origin.y + uint4(0, 1, 2, 3) * window_stride.y;
    uint s = first_tap % filter_size.y;
    uint r = first_tap / filter_size.y % filter_size.x;
    uint c = first_tap / filter_size.y / filter_size.x;
    int4 sums = 0;
    float4 partial = 0;
    [loop] for (uint tap = first_tap; tap < last_tap; ++tap) {
        const uint row = origin.x + r * dilation.x;
        if (row < input_size.x) {
            const float w = filter_number(dot(uint4(channel, c, r, s), filter_strides), filter_zero_value);
            const uint input_row = dot(uint3(image, group * group_input_channels + c, row), input_strides.xyz);
            partial += w * inputs_in_row(input_row, columns + s * dilation.y, input_zero_value);
        }
        if (tap % TAPS_PER_FLUSH == TAPS_PER_FLUSH - 1) {
            sums += int4(partial);
            partial = 0;
        }
        // On to the next tap.
        ++s;
        if (s == filter_size.y) {
            s = 0;
            ++r;
        }
        if (r == filter_size.x) {
            r = 0;
            ++c;
        }
    }
    return sums + int4(partial);
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint element_count = element_total();
    const uint groups_per_slice = (element_count + 4 * GROUP_SIZE - 1) / (4 * GROUP_SIZE);
    const uint slice = linear_group(group_id) / groups_per_slice;
    const uint word_number = linear_group(group_id) % groups_per_slice * GROUP_SIZE + thread;
    const uint first_tap = slice * taps_per_slice;
    const uint last_tap = min(first_tap + taps_per_slice, tap_total());
    const uint first = word_number * 4;
    const int zero = output_zero();
    uint word = 0;
    uint done = 0;
    // In stretches of one row each: seldom more than one.
    [loop] while (done < 4 && first + done < element_count && slice < slice_count) {
        const uint row = (first + done) / output_size.y;
        const uint plane = row / output_size.x;
        const uint2 position = uint2(row % output_size.x, (first + done) % output_size.y);
        const uint channel = plane % output_channels;
        const uint image = plane / output_channels;
        const uint count = min(4 - done, output_size.y - position.y);
        int4 sums = convolve(image, channel, position, first_tap, last_tap);
#if FINISH
        const float multiplier = multiplier_of(channel);
        const int bias_value = bias_of(channel);
#endif
        [loop] for (uint j = 0; j < count && first + done + j < element_count; ++j) {
#if FINISH
            const uint bits = requantise(widened(sums.x), bias_value, multiplier, zero);
            if (output_is_packed) {
                word |= bits << ((done + j) * 8);
            } else {
                const uint offset = dot(uint4(image, channel, position.x, position.y + j), output_strides);
                STORE_ELEMENT(output, BYTES, offset, bits)
            }
#else
            slice_sums[slice * element_count + first + done + j] = sums.x;
#endif
            sums = sums.yzww;
        }
        done += count;
    }
#if FINISH
    if (output_is_packed && first < element_count) {
        output[word_number] = word;
    }
#endif
}

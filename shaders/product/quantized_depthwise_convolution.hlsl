// QUANTIZED_LINEAR_CONVOLUTION with one input channel per group: each thread computes four consecutive output elements,
// a whole word of a packed output. Elements in the same row share the loads of the filter.
//
// Convolutions whose windows fit tiles use quantized_depthwise_tiled.hlsl.

#include "shaders/product/quantized_depthwise.hlsli"


float input_number(uint offset, int zero) {
    return float(number_from(LOAD_ELEMENT(input, BYTES, offset), input_sign) - zero);
}

float filter_number(uint offset, int zero) {
    return float(number_from(LOAD_ELEMENT(filter, BYTES, offset), filter_sign) - zero);
}

// Four contiguous elements, which may be in two words.
float4 four_inputs(uint offset, int zero) {
    const uint shift = SHIFT_OF(BYTES, offset);
    uint word = input[WORD_OF(BYTES, offset)] >> shift;
    if (shift != 0) {
        word |= input[WORD_OF(BYTES, offset) + 1] << (32 - shift);
    }
    const uint4 bits = uint4(word, word >> 8, word >> 16, word >> 24) & 0xff;
    return float4(int4(bits ^ input_sign) - (int(input_sign) + zero));
}

// The inputs in these columns of the row that starts at an offset, for four adjacent outputs. Padding has the value of
// the zero point, so it becomes 0.
float4 inputs_in_row(uint row_start, uint4 columns, int zero) {
    float4 numbers = 0;
    if (inputs_adjacent && columns.x < input_size.y && columns.w < input_size.y) {
        numbers = four_inputs(row_start + columns.x, zero);
    } else {
        if (columns.x < input_size.y) {
            numbers.x = input_number(row_start + columns.x * input_strides.w, zero);
        }
        if (columns.y < input_size.y) {
            numbers.y = input_number(row_start + columns.y * input_strides.w, zero);
        }
        if (columns.z < input_size.y) {
            numbers.z = input_number(row_start + columns.z * input_strides.w, zero);
        }
        if (columns.w < input_size.y) {
            numbers.w = input_number(row_start + columns.w * input_strides.w, zero);
        }
    }
    return numbers;
}

// Sums for four outputs of a channel, starting at `position` in its row. Those beyond the row must be ignored.
int4 convolve(uint image, uint channel, uint2 position) {
    const uint input_start = dot(uint2(image, channel / group_output_channels), input_strides.xy);
    const int input_zero_value = input_zero();
    const int filter_zero_value = filter_zero(channel);
    // Padding before 0 wraps to very large numbers.
    const uint2 origin = position * window_stride - start_padding;
    const uint4 columns = origin.y + uint4(0, 1, 2, 3) * window_stride.y;
    uint s = 0;
    uint r = 0;
    int4 sums = 0;
    float4 partial = 0;
    [loop] for (uint tap = 0; tap < filter_size.x * filter_size.y; ++tap) {
        const uint row = origin.x + r * dilation.x;
        if (row < input_size.x) {
            const float w = filter_number(dot(uint3(channel, r, s), filter_strides.xzw), filter_zero_value);
            const uint input_row = input_start + row * input_strides.z;
            partial += w * inputs_in_row(input_row, columns + s * dilation.y, input_zero_value);
        }
        if (tap % DEPTHWISE_EXACT_TAPS == DEPTHWISE_EXACT_TAPS - 1) {
            sums += int4(partial);
            partial = 0;
        }
        // Advance to the next filter element.
        ++s;
        if (s == filter_size.y) {
            s = 0;
            ++r;
        }
    }
    return sums + int4(partial);
}

// The output's bits for a sum; the bias is added in 64 bits.
uint requantise(int sum, int bias_value, float multiplier, int zero) {
    const uint low = uint(sum) + uint(bias_value);
    const int high = (sum >> 31) + (bias_value < 0 ? -1 : 0) + (low < uint(sum) ? 1 : 0);
    precise const float scaled = float_from_int64(high, low) * multiplier;
    // Scales of 0 or infinity are not allowed. If they occur anyway, the output is the same on all devices.
    const float rounded = is_nan(scaled) ? 0 : round(scaled);
    const float lowest = lowest_output();
    return uint(int(clamp(rounded + float(zero), lowest, lowest + 255))) & 0xff;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint element_count = batch * output_channels * output_size.x * output_size.y;
    const uint word_number = linear_group(group_id) * GROUP_SIZE + thread;
    const uint first = word_number * 4;
    const int zero = output_zero();
    uint word = 0;
    uint done = 0;
    // In segments within one row; there is rarely more than one.
    [loop] while (done < 4 && first + done < element_count) {
        const uint row = (first + done) / output_size.y;
        const uint plane = row / output_size.x;
        const uint2 position = uint2(row % output_size.x, (first + done) % output_size.y);
        const uint channel = plane % output_channels;
        const uint image = plane / output_channels;
        const uint count = min(4 - done, output_size.y - position.y);
        int4 sums = convolve(image, channel, position);
        const float multiplier = multiplier_of(channel);
        const int bias_value = bias_of(channel);
        [loop] for (uint j = 0; j < count; ++j) {
            const uint bits = requantise(sums.x, bias_value, multiplier, zero);
            if (output_is_packed) {
                word |= bits << ((done + j) * 8);
            } else {
                const uint offset = dot(uint4(image, channel, position.x, position.y + j), output_strides);
                STORE_ELEMENT(output, BYTES, offset, bits)
            }
            sums = sums.yzww;
        }
        done += count;
    }
    if (output_is_packed && first < element_count) {
        output[word_number] = word;
    }
}

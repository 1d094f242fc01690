// QUANTIZED_LINEAR_CONVOLUTION as a matrix product, filter times windows of the input, for the shapes in which it pays.
//
// Rows of the product are output channels of one group, columns are output positions of one image, and the sum is over
// taps. A group of threads makes a tile of TILE by TILE, each thread four by four of it, from stretches of taps that
// all threads read into groupshared memory together.
//
// FINISH  see quantized_linear_convolution.hlsli

#include "quantized_linear_convolution.hlsli"

#define GROUP_SIZE 256
#define TILE 64
#define QUADS (TILE / 4)
#define STRETCH 32  // taps; divides TAPS_PER_FLUSH

// Of one dimension: vkd3d's compiler forgets the first index when it reads from two. The filter's rows are padded by
// one, as threads that write a column would otherwise all write to the same memory bank.
#define FILTER_ROW (QUADS + 1)
groupshared float4 filter_tile[STRETCH * FILTER_ROW];
groupshared float4 input_tile[STRETCH * QUADS];
// Of each tap: channel, row and column in the window; where its filter number is, relative to its output channel's
// first.
groupshared uint4 tap_tile[STRETCH];

uint4 locate_tap(uint tap) {
    const uint s = tap % filter_size.y;
    const uint r = tap / filter_size.y % filter_size.x;
    const uint c = tap / filter_size.y / filter_size.x;
    return uint4(c, r * dilation.x, s * dilation.y, c * filter_strides.y + r * filter_strides.z + s * filter_strides.w);
}

float input_at(uint channel_start, uint2 origin, uint4 tap, int zero) {
    const uint2 place = origin + tap.yz;
    const bool inside = place.x < input_size.x && place.y < input_size.y;
    const uint offset = channel_start + tap.x * input_strides.y + place.x * input_strides.z + place.y * input_strides.w;
    return inside ? input_number(inside ? offset : 0, zero) : 0;
}

// For four outputs side by side in a row.
float4 inputs_at(uint channel_start, uint2 origin, uint4 tap, int zero) {
    const uint row = origin.x + tap.y;
    const uint4 columns = origin.y + tap.z + uint4(0, 1, 2, 3) * window_stride.y;
    float4 numbers = 0;
    if (row < input_size.x) {
        numbers = inputs_in_row(channel_start + tap.x * input_strides.y + row * input_strides.z, columns, zero);
    }
    return numbers;
}

// Of the taps tap … tap + 3 of a channel, relative to the stretch, as far as there are so many.
float4 filters_at(uint channel, uint first_tap, uint tap, uint tap_end, int zero) {
    const uint start = channel * filter_strides.x;
    float4 numbers = 0;
    if (filter_packed && first_tap + tap + 4 <= tap_end) {
        numbers = four_numbers(four_filters(start + first_tap + tap), filter_sign, zero);
    } else {
        if (first_tap + tap < tap_end) {
            numbers.x = filter_number(start + tap_tile[tap].w, zero);
        }
        if (first_tap + tap + 1 < tap_end) {
            numbers.y = filter_number(start + tap_tile[tap + 1].w, zero);
        }
        if (first_tap + tap + 2 < tap_end) {
            numbers.z = filter_number(start + tap_tile[tap + 2].w, zero);
        }
        if (first_tap + tap + 3 < tap_end) {
            numbers.w = filter_number(start + tap_tile[tap + 3].w, zero);
        }
    }
    return numbers;
}

// Four outputs of a channel that follow one another, unless some are beyond the last position.
void store_outputs(uint image, uint channel, uint first_position, int4 sums, int zero) {
    const uint position_count = output_size.x * output_size.y;
    const float multiplier = multiplier_of(channel);
    const int bias_value = bias_of(channel);
    uint4 bits;
    bits.x = requantise(widened(sums.x), bias_value, multiplier, zero);
    bits.y = requantise(widened(sums.y), bias_value, multiplier, zero);
    bits.z = requantise(widened(sums.z), bias_value, multiplier, zero);
    bits.w = requantise(widened(sums.w), bias_value, multiplier, zero);
    const uint packed_offset = (image * output_channels + channel) * position_count + first_position;
    if (output_is_packed && packed_offset % 4 == 0 && first_position + 4 <= position_count) {
        output[packed_offset / 4] = bits.x | bits.y << 8 | bits.z << 16 | bits.w << 24;
    } else {
        [loop] for (uint j = 0; j < 4 && first_position + j < position_count; ++j) {
            const uint2 place = uint2((first_position + j) / output_size.y, (first_position + j) % output_size.y);
            const uint offset = dot(uint4(image, channel, place), output_strides);
            STORE_ELEMENT(output, BYTES, offset, bits.x)
            bits = bits.yzww;
        }
    }
}

void store_sums(uint slice, uint image, uint channel, uint first_position, int4 sums) {
    const uint position_count = output_size.x * output_size.y;
    const uint first = slice * element_total() + (image * output_channels + channel) * position_count + first_position;
    [loop] for (uint j = 0; j < 4 && first_position + j < position_count; ++j) {
        slice_sums[first + j] = sums.x;
        sums = sums.yzww;
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint position_count = output_size.x * output_size.y;
    const uint position_tiles = (position_count + TILE - 1) / TILE;
    const uint channel_tiles = (group_output_channels + TILE - 1) / TILE;
    const uint group_total = output_channels / group_output_channels;
    const uint tile = linear_group(group_id);
    const uint first_position = tile % position_tiles * TILE;
    const uint first_in_group = tile / position_tiles % channel_tiles * TILE;
    const uint group = tile / position_tiles / channel_tiles % group_total;
    const uint image = tile / position_tiles / channel_tiles / group_total % batch;
    const uint slice = tile / position_tiles / channel_tiles / group_total / batch;
    const uint first_channel = group * group_output_channels + first_in_group;
    const uint last_channel = (group + 1) * group_output_channels;
    const uint slice_end = min((slice + 1) * taps_per_slice, tap_total());

    // What this thread reads of the input: one quad of positions, for every sixteenth tap of a stretch.
    const uint input_quad = thread % QUADS;
    const uint4 positions = first_position + input_quad * 4 + uint4(0, 1, 2, 3);
    const uint channel_start = image * input_strides.x + group * group_input_channels * input_strides.y;
    const uint2 origin_0 = window_origin(uint2(positions.x / output_size.y, positions.x % output_size.y));
    const uint2 origin_1 = window_origin(uint2(positions.y / output_size.y, positions.y % output_size.y));
    const uint2 origin_2 = window_origin(uint2(positions.z / output_size.y, positions.z % output_size.y));
    const uint2 origin_3 = window_origin(uint2(positions.w / output_size.y, positions.w % output_size.y));
    const int input_zero_value = input_zero();

    // What half of the threads read of the filter: four taps, for one quad of channels.
    const uint filter_tap = thread % (STRETCH / 4) * 4;
    const uint filter_quad = thread / (STRETCH / 4);
    const uint4 filter_channels = min(first_channel + filter_quad * 4 + uint4(0, 1, 2, 3), output_channels - 1);
    const int4 filter_zeros = int4(filter_zero(filter_channels.x), filter_zero(filter_channels.y),
                                   filter_zero(filter_channels.z), filter_zero(filter_channels.w));

    int4 sums_0 = 0;
    int4 sums_1 = 0;
    int4 sums_2 = 0;
    int4 sums_3 = 0;
    float4 partial_0 = 0;
    float4 partial_1 = 0;
    float4 partial_2 = 0;
    float4 partial_3 = 0;
    uint i;
    [loop] for (uint turn = 0; turn < taps_per_slice; turn += STRETCH) {
        const uint first_tap = slice * taps_per_slice + turn;
        if (thread < STRETCH) {
            tap_tile[thread] = locate_tap(first_tap + thread);
        }
        GroupMemoryBarrierWithGroupSync();
        [loop] for (i = thread / QUADS; i < STRETCH; i += GROUP_SIZE / QUADS) {
            float4 numbers = 0;
            if (first_tap + i < slice_end) {
                const uint4 tap = tap_tile[i];
                if (quads_in_rows) {
                    numbers = inputs_at(channel_start, origin_0, tap, input_zero_value);
                } else {
                    numbers.x = input_at(channel_start, origin_0, tap, input_zero_value);
                    numbers.y = input_at(channel_start, origin_1, tap, input_zero_value);
                    numbers.z = input_at(channel_start, origin_2, tap, input_zero_value);
                    numbers.w = input_at(channel_start, origin_3, tap, input_zero_value);
                }
            }
            input_tile[i * QUADS + input_quad] = numbers;
        }
        if (filter_quad < QUADS) {
            const float4 a = filters_at(filter_channels.x, first_tap, filter_tap, slice_end, filter_zeros.x);
            const float4 b = filters_at(filter_channels.y, first_tap, filter_tap, slice_end, filter_zeros.y);
            const float4 c = filters_at(filter_channels.z, first_tap, filter_tap, slice_end, filter_zeros.z);
            const float4 d = filters_at(filter_channels.w, first_tap, filter_tap, slice_end, filter_zeros.w);
            const uint place = filter_tap * FILTER_ROW + filter_quad;
            filter_tile[place] = float4(a.x, b.x, c.x, d.x);
            filter_tile[place + FILTER_ROW] = float4(a.y, b.y, c.y, d.y);
            filter_tile[place + 2 * FILTER_ROW] = float4(a.z, b.z, c.z, d.z);
            filter_tile[place + 3 * FILTER_ROW] = float4(a.w, b.w, c.w, d.w);
        }
        GroupMemoryBarrierWithGroupSync();
        [loop] for (i = 0; i < STRETCH; ++i) {
            const float4 x = input_tile[i * QUADS + thread % QUADS];
            const float4 w = filter_tile[i * FILTER_ROW + thread / QUADS];
            partial_0 += w.x * x;
            partial_1 += w.y * x;
            partial_2 += w.z * x;
            partial_3 += w.w * x;
        }
        if ((turn + STRETCH) % TAPS_PER_FLUSH == 0 || turn + STRETCH >= taps_per_slice) {
            sums_0 += int4(partial_0);
            sums_1 += int4(partial_1);
            sums_2 += int4(partial_2);
            sums_3 += int4(partial_3);
            partial_0 = 0;
            partial_1 = 0;
            partial_2 = 0;
            partial_3 = 0;
        }
        GroupMemoryBarrierWithGroupSync();
    }

    const uint channel = first_channel + thread / QUADS * 4;
    const uint position = first_position + thread % QUADS * 4;
    const int zero = output_zero();
    if (slice < slice_count && position < position_count) {
        [loop] for (i = 0; i < 4 && channel + i < last_channel; ++i) {
#if FINISH
            store_outputs(image, channel + i, position, sums_0, zero);
#else
            store_sums(slice, image, channel + i, position, sums_0);
#endif
            sums_0 = sums_1;
            sums_1 = sums_2;
            sums_2 = sums_3;
        }
    }
}

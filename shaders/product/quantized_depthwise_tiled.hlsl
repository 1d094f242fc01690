// QUANTIZED_LINEAR_CONVOLUTION with one input channel per group, for windows that are not too large: a thread group
// computes a tile of an output channel of a batch, or several whole channels.
//
// First, the input of the tile is stored in groupshared memory, as differences from the zero point; padding is 0. So
// are the filter elements, in groups of four per row; a dilated window has zeros between them. Then each thread
// computes groups of four adjacent outputs ("fours"), one below the other. For four filter elements of a row it needs
// two or three fours of the input. They are aligned to the tile's fours, because the tile begins where the first window
// does.
//
// Rows of the output are whole words, or the tile is contiguous in memory and is assembled in groupshared memory.

#include "shaders/product/quantized_depthwise.hlsli"

#define THREAD_ROWS DEPTHWISE_THREAD_ROWS
#define FOUR uint4(0, 1, 2, 3)
// Adding this to an integer puts its bits in the low end of the result, which is faster than a conversion.
#define INTEGERS 8388608.0
// The same for signed numbers. Adding it rounds to nearest even.
#define SIGNED_INTEGERS 12582912.0
// A byte times this is four copies of it.
#define FOUR_BYTES 0x01010101

// Two fours for each thread: the rows of a channel, then those of the next channel.
groupshared float4 inputs[2 * GROUP_SIZE];
groupshared float taps[4 * DEPTHWISE_TAP_FOURS];
// For each channel: see scheme_of.
groupshared float4 schemes[DEPTHWISE_CHANNELS];
groupshared uint staged[GROUP_SIZE * THREAD_ROWS + 1];

// True if the rows of the output are whole words.
bool has_whole_words() {
    return (output_size.y & 3) == 0;
}

struct Tile {
    uint image;
    uint channel;  // of the output: the first one
    uint row;
    uint four;
};

// Returns the remainder, and replaces the number by the quotient.
uint divide(inout uint number, uint divisor) {
    uint rest = 0;
    [branch] if (divisor > 1) {
        const uint quotient = number / divisor;
        rest = number - quotient * divisor;
        number = quotient;
    }
    return rest;
}

Tile tile_of(uint number) {
    Tile tile;
    uint rest = number;
    tile.four = divide(rest, four_tiles) * tile_fours;
    tile.row = divide(rest, row_tiles) * tile_rows;
    tile.channel = divide(rest, channel_tiles) * tile_channels;
    tile.image = rest;
    return tile;
}

// The quotient of a small number by a divisor with this reciprocal.
uint quotient_by(uint number, uint reciprocal) {
    return number * reciprocal >> DEPTHWISE_QUOTIENT_BITS;
}

// Channels beyond the last one are replaced by it.
uint channel_at(Tile tile, uint number) {
    return min(tile.channel + number, output_channels - 1);
}

// Contiguous inputs, which are in three words.
struct Segment {
    uint3 words;
    uint shift;   // of the first input in its word
    uint column;  // may be beyond the input
    uint width;   // of the input; 0 if the row is beyond it
};

Segment read_segment(Tile tile, uint number) {
    const uint line_number = quotient_by(number, by_tile_input_segments);
    const uint channel = quotient_by(line_number, by_tile_input_rows);
    // Padding before 0 wraps to very large numbers.
    const uint2 origin = uint2(tile.row, tile.four * 4) * window_stride - start_padding;
    const uint row = origin.x + line_number - channel * tile_input_rows;
    Segment segment;
    segment.column = origin.y + (number - line_number * tile_input_segments) * DEPTHWISE_SEGMENT;
    segment.width = row < input_size.x ? input_size.y : 0;
    uint input_channel = channel_at(tile, channel);
    divide(input_channel, group_output_channels);
    const uint row_offset = segment.width != 0 ? row * input_strides.z : 0;
    const uint offset = dot(uint2(tile.image, input_channel), input_strides.xy) + row_offset + segment.column;
    const int3 words = (int(offset) >> BYTES) + int3(0, 1, 2);
    const int3 inside = clamp(words, 0, int(input_words) - 1);
    segment.words = uint3(input[inside.x], input[inside.y], input[inside.z]);
    segment.shift = SHIFT_OF(BYTES, offset);
    return segment;
}

// `zero` combines INTEGERS and the bits of the zero point.
float4 numbers_from(uint word, uint4 columns, uint width, float zero) {
    const uint4 bits = uint4(word, word >> 8, word >> 16, word >> 24) & 0xff;
    const float4 numbers = asfloat(bits ^ (asuint(INTEGERS) | input_sign)) - zero;
    return columns < width ? numbers : 0;
}

void put_segment(Segment segment, uint number) {
    const uint2 fours = segment.words.xy >> segment.shift | segment.words.yz << 1 << (31 - segment.shift);
    const uint4 columns = segment.column + FOUR;
    const float zero = INTEGERS + float(int(input_sign) + input_zero());
    inputs[number * 2] = numbers_from(fours.x, columns, segment.width, zero);
    inputs[number * 2 + 1] = numbers_from(fours.y, columns + 4, segment.width, zero);
}

// The filter element with this number in the tile's layout; 0 between dilated elements and after the last one.
float tap_at(Tile tile, uint number) {
    uint row = number;
    uint column = divide(row, row_taps * 4);
    const uint filter_row = divide(row, filter_size.x);
    const uint channel = channel_at(tile, row);
    const uint between = divide(column, dilation.y);
    const bool is_tap = between == 0 && column < filter_size.y;
    const uint offset = dot(uint3(channel, filter_row, is_tap ? column : 0), filter_strides.xzw);
    const int tap = number_from(LOAD_ELEMENT(filter, BYTES, offset), filter_sign) - filter_zero(channel);
    return is_tap ? float(tap) : 0;
}

// How outputs are computed from sums: the low bits of the bias, with which the sum begins, its other bits, the
// multiplier, and the lowest output without the zero point. FP32 represents each exactly, so that only the addition of
// the bias's other bits rounds.
float4 scheme_of(uint channel) {
    const int whole_bias = bias_of(channel);
    const int low = whole_bias & 0xff;
    const float multiplier = multiplier_of(channel);
    // Scales of 0 or infinity are not allowed. If they occur anyway, the output is the same on all devices. Infinity is
    // replaced by the largest number.
    const uint magnitude = min(asuint(multiplier) & 0x7fffffff, 0x7f7fffff);
    const float finite = asfloat(magnitude | asuint(multiplier) & 0x80000000);
    return float4(low, whole_bias - low, is_nan(multiplier) ? 0 : finite, lowest_output() - output_zero());
}

// Converts four sums to adjacent outputs, packed into a word.
uint word_of_outputs(float4 sums, float4 scheme) {
    precise const float4 scaled = (sums + scheme.y) * scheme.z;
    precise const float4 rounded = clamp(scaled, scheme.w, scheme.w + 255) + SIGNED_INTEGERS;
    precise const float lowest = scheme.w + SIGNED_INTEGERS;
    const uint4 bits = asuint(rounded);
    const uint word = bits.x + (bits.y << 8) + (bits.z << 16) + (bits.w << 24);
    return word - asuint(lowest) * FOUR_BYTES ^ output_sign * FOUR_BYTES;
}

// Adds four filter elements of a row to four sums whose windows are one column apart.
void multiply_adjacent(inout float4 sums, float4 w, uint at) {
    const float4 a = inputs[at];
    const float4 b = inputs[at + 1];
    sums += w.x * a;
    sums += w.y * float4(a.yzw, b.x);
    sums += w.z * float4(a.zw, b.xy);
    sums += w.w * float4(a.w, b.xyz);
}

// The same for windows that are two columns apart.
void multiply_every_second(inout float4 sums, float4 w, uint at) {
    const float4 a = inputs[at];
    const float4 b = inputs[at + 1];
    const float4 c = inputs[at + 2];
    sums += w.x * float4(a.xz, b.xz);
    sums += w.y * float4(a.yw, b.yw);
    sums += w.z * float4(a.z, b.xz, c.x);
    sums += w.w * float4(a.w, b.yw, c.y);
}

// The position of a thread's outputs within the tile.
struct Share {
    uint channel;
    uint row;  // the first one
    uint four;
};

Share share_of(uint thread) {
    const uint line_number = quotient_by(thread, by_tile_fours);
    Share share;
    share.four = thread - line_number * tile_fours;
    share.channel = quotient_by(line_number, by_tile_turns);
    share.row = line_number * THREAD_ROWS - share.channel * tile_rows;
    return share;
}

// The number of rows that the thread computes.
uint rows_of(Tile tile, Share share, uint thread) {
    const bool is_there = thread < thread_count && tile.channel + share.channel < output_channels &&
                          (tile.four + share.four) * 4 < output_size.y;
    const uint end = min(tile_rows, output_size.x - tile.row);
    return is_there ? min(max(end, share.row) - share.row, THREAD_ROWS) : 0;
}

void convolve(Share share, inout float4 sums[THREAD_ROWS]) {
    const uint pitch = tile_input_segments * (DEPTHWISE_SEGMENT / 4);
    const uint next_tap_row = dilation.x * pitch - row_taps;
    const uint end = (share.channel + 1) * filter_size.x * row_taps;
    uint at = (share.channel * tile_input_rows + share.row * window_stride.x) * pitch + share.four * window_stride.y;
    uint tap = share.channel * filter_size.x * row_taps;
    uint row_end = tap + row_taps;
    [loop] while (tap < end) {
        const float4 w = float4(taps[tap * 4], taps[tap * 4 + 1], taps[tap * 4 + 2], taps[tap * 4 + 3]);
        uint i;
        [branch] if (window_stride.y == 1) {
            [unroll] for (i = 0; i < THREAD_ROWS; ++i) {
                multiply_adjacent(sums[i], w, at + i * window_stride.x * pitch);
            }
        } else {
            [unroll] for (i = 0; i < THREAD_ROWS; ++i) {
                multiply_every_second(sums[i], w, at + i * window_stride.x * pitch);
            }
        }
        ++at;
        ++tap;
        if (tap == row_end) {
            at += next_tap_row;
            row_end += row_taps;
        }
    }
}

// Writes the first bytes of words, which belong to consecutive rows, to the assembled output of the tile, starting at a
// byte.
void stage(uint words[THREAD_ROWS], uint row_count, uint byte_count, uint first_byte) {
    uint offset = first_byte;
    [loop] for (uint row = 0; row < row_count; ++row) {
        const uint bits = words[0] & 0xffffffffu >> (32 - 8 * byte_count);
        const uint shift = SHIFT_OF(BYTES, offset);
        InterlockedOr(staged[WORD_OF(BYTES, offset)], bits << shift);
        InterlockedOr(staged[WORD_OF(BYTES, offset) + 1], bits >> 1 >> (31 - shift));
        [unroll] for (uint i = 1; i < THREAD_ROWS; ++i) {
            words[i - 1] = words[i];
        }
        offset += output_size.y;
    }
}

// Stores the tile's assembled output, which begins and ends at these bytes. Stores whole words, except at the ends,
// which may be shared with other tiles.
void store_staged(uint begin, uint end, uint thread) {
    const uint first_word = WORD_OF(BYTES, begin);
    [loop] for (uint word = first_word + thread; word * 4 < end; word += GROUP_SIZE) {
        const uint before = max(begin, word * 4) - word * 4;
        const uint behind = 4 - min(end - word * 4, 4);
        const uint mask = 0xffffffffu << (8 * before) & 0xffffffffu >> (8 * behind);
        STORE_BITS(output, word, mask, staged[word - first_word])
    }
}

// Fills groupshared memory with everything that the tile's outputs need.
void fill(Tile tile, uint thread) {
    uint number;
    // Starts the loads that are used last.
    const Segment segment = read_segment(tile, min(thread, segment_count - 1));
    if (GROUP_SIZE - 1 - thread < tile_channels) {
        schemes[GROUP_SIZE - 1 - thread] = scheme_of(channel_at(tile, GROUP_SIZE - 1 - thread));
    }
    [loop] for (number = thread; number < tile_channels * filter_size.x * row_taps * 4; number += GROUP_SIZE) {
        taps[number] = tap_at(tile, number);
    }
    if (!has_whole_words()) {
        [loop] for (number = thread; number <= GROUP_SIZE * THREAD_ROWS; number += GROUP_SIZE) {
            staged[number] = 0;
        }
    }
    if (thread < segment_count) {
        put_segment(segment, thread);
    }
}

// Computes a thread's outputs, `row_count` rows, starting at this row of the tile. Rows are numbered across channels.
void make(Tile tile, Share share, uint row_count, uint first_row) {
    const float4 scheme = schemes[share.channel];
    float4 sums[THREAD_ROWS];
    uint words[THREAD_ROWS];
    uint i;
    [unroll] for (i = 0; i < THREAD_ROWS; ++i) {
        sums[i] = scheme.x;
    }
    convolve(share, sums);
    [unroll] for (i = 0; i < THREAD_ROWS; ++i) {
        words[i] = word_of_outputs(sums[i], scheme);
    }
    const uint row = share.channel * output_size.x + share.row;
    if (has_whole_words()) {
        const uint word = (first_row + row) * (output_size.y / 4) + tile.four + share.four;
        [unroll] for (i = 0; i < THREAD_ROWS; ++i) {
            if (i < row_count) {
                output[word + i * (output_size.y / 4)] = words[i];
            }
        }
    } else {
        const uint byte_count = min(output_size.y - share.four * 4, 4);
        const uint skew = first_row * output_size.y & 3;
        stage(words, row_count, byte_count, skew + row * output_size.y + share.four * 4);
    }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    // Surplus groups compute the last tile again.
    const Tile tile = tile_of(min(linear_group(group_id), group_count - 1));
    fill(tile, thread);
    GroupMemoryBarrierWithGroupSync();
    const uint first_row = (tile.image * output_channels + tile.channel) * output_size.x + tile.row;
    const Share share = share_of(thread);
    const uint row_count = rows_of(tile, share, thread);
    if (row_count > 0) {
        make(tile, share, row_count, first_row);
    }
    if (!has_whole_words()) {
        GroupMemoryBarrierWithGroupSync();
        const uint channels = min(tile_channels, output_channels - tile.channel);
        const uint rows = (channels - 1) * output_size.x + min(tile_rows, output_size.x - tile.row);
        store_staged(first_row * output_size.y, (first_row + rows) * output_size.y, thread);
    }
}

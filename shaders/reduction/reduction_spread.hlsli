// Items of FLOAT32 whose four elements are as far apart in their line as it has threads, so that adjacent threads read
// adjacent words. This suits vkd3d, which splits a load of 16 bytes into four.
//
// See VECTOR_SPREAD in reduction_parameters.hlsli.

uint4 load_spread(uint place, uint distance) {
    return uint4(input[place], input[place + distance], input[place + 2 * distance], input[place + 3 * distance]);
}

// Loads the elements with these numbers of a line; zeros beyond its end.
uint4 load_rest(uint line_start, uint4 numbers, uint last) {
    const uint4 places = line_start + min(numbers, last - 1) * item_dimensions[0].y;
    const uint4 bits = uint4(input[places.x], input[places.y], input[places.z], input[places.w]);
    return numbers < last ? bits : 0;
}

#if COMBINE == COMBINE_SUM
// Sums a thread's elements from this one on. Groups that share a line interleave.
float4 sum_of_spread(uint line_start, uint first, uint last) {
    const uint stride = threads_per_line * chunk_count;
    const uint distance = stride * item_dimensions[0].y;
    const uint magnitude_bits = map == MAP_MAGNITUDE ? 0x7fffffff : 0xffffffff;
    const bool is_squared = map == MAP_SQUARE;
    uint number = first;
    uint place = line_start + first * item_dimensions[0].y;
    float4 sum = 0;
    // Sixteen at a time, so that the loads overlap.
    [loop] for (; number + 15 * stride < last; number += 16 * stride) {
        const uint4 bits_0 = load_spread(place, distance);
        const uint4 bits_1 = load_spread(place + 4 * distance, distance);
        const uint4 bits_2 = load_spread(place + 8 * distance, distance);
        const uint4 bits_3 = load_spread(place + 12 * distance, distance);
        place += 16 * distance;
        sum += mapped(bits_0, magnitude_bits, is_squared);
        sum += mapped(bits_1, magnitude_bits, is_squared);
        sum += mapped(bits_2, magnitude_bits, is_squared);
        sum += mapped(bits_3, magnitude_bits, is_squared);
    }
    [loop] for (; number < last; number += 4 * stride) {
        const uint4 bits = load_rest(line_start, number + uint4(0, 1, 2, 3) * stride, last);
        sum += mapped(bits, magnitude_bits, is_squared);
    }
    return sum;
}
#endif

#if TARGET == TARGET_ELEMENTS
void store_spread(uint place, uint distance, float4 numbers) {
    output_words[place] = asuint(numbers.x);
    output_words[place + distance] = asuint(numbers.y);
    output_words[place + 2 * distance] = asuint(numbers.z);
    output_words[place + 3 * distance] = asuint(numbers.w);
}

// Stores the elements that exist.
void store_rest(uint line_start, uint4 numbers, uint last, float4 results) {
    const uint4 places = line_start + numbers * item_dimensions[0].z;
    if (numbers.x < last) {
        output_words[places.x] = asuint(results.x);
    }
    if (numbers.y < last) {
        output_words[places.y] = asuint(results.y);
    }
    if (numbers.z < last) {
        output_words[places.z] = asuint(results.z);
    }
    if (numbers.w < last) {
        output_words[places.w] = asuint(results.w);
    }
}
#endif

// Items of four elements, in words that are as far apart in their line as it has threads, so that adjacent threads read
// adjacent words. This suits vkd3d, which splits a load of 16 bytes into four. A word is a FLOAT32, or two FLOAT16.
//
// See VECTOR_SPREAD in reduction_parameters.hlsli.

#ifdef HALF
#define WORDS_PER_ITEM 2
#else
#define WORDS_PER_ITEM 4
#endif

uint4 load_spread(uint offset, uint distance) {
#ifdef HALF
    return uint4(input[offset], input[offset + distance], 0, 0);
#else
    return uint4(input[offset], input[offset + distance], input[offset + 2 * distance], input[offset + 3 * distance]);
#endif
}

// The elements in these words.
float4 numbers_of_spread(uint4 words) {
#ifdef HALF
    return numbers_of_halves(uint4(words.x, words.x >> 16, words.y, words.y >> 16));
#else
    return asfloat(words);
#endif
}

// The words with these elements.
uint4 words_of_spread(float4 numbers) {
#ifdef HALF
    const uint4 bits = halves_of_numbers(numbers);
    return uint4(bits.x | bits.y << 16, bits.z | bits.w << 16, 0, 0);
#else
    return asuint(numbers);
#endif
}

// Loads the words with these numbers of a line; zeros beyond its end.
uint4 load_rest(uint line_start, uint4 numbers, uint last) {
    const uint4 offsets = line_start + min(numbers, last - 1) * item_dimensions[0].y;
#ifdef HALF
    const uint4 bits = uint4(input[offsets.x], input[offsets.y], 0, 0);
#else
    const uint4 bits = uint4(input[offsets.x], input[offsets.y], input[offsets.z], input[offsets.w]);
#endif
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
    uint offset = line_start + first * item_dimensions[0].y;
    float4 sum = 0;
    // Sixteen at a time, so that the loads overlap.
    [loop] for (; number + 15 * stride < last; number += 16 * stride) {
        const uint4 bits_0 = load_spread(offset, distance);
        const uint4 bits_1 = load_spread(offset + 4 * distance, distance);
        const uint4 bits_2 = load_spread(offset + 8 * distance, distance);
        const uint4 bits_3 = load_spread(offset + 12 * distance, distance);
        offset += 16 * distance;
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
void store_spread(uint offset, uint distance, float4 numbers) {
    const uint4 words = words_of_spread(numbers);
    output_words[offset] = words.x;
    output_words[offset + distance] = words.y;
#ifndef HALF
    output_words[offset + 2 * distance] = words.z;
    output_words[offset + 3 * distance] = words.w;
#endif
}

// The elements that exist; -infinity for the others.
float4 elements_of_rest(uint line_start, uint4 numbers, uint last) {
    const float4 loaded = numbers_of_spread(load_rest(line_start, numbers, last));
#ifdef HALF
    return numbers.xxyy < last ? loaded : -infinity();
#else
    return numbers < last ? loaded : -infinity();
#endif
}

// Stores the elements that exist.
void store_rest(uint line_start, uint4 numbers, uint last, float4 results) {
    const uint4 offsets = line_start + numbers * item_dimensions[0].z;
    const uint4 words = words_of_spread(results);
    if (numbers.x < last) {
        output_words[offsets.x] = words.x;
    }
    if (numbers.y < last) {
        output_words[offsets.y] = words.y;
    }
#ifndef HALF
    if (numbers.z < last) {
        output_words[offsets.z] = words.z;
    }
    if (numbers.w < last) {
        output_words[offsets.w] = words.w;
    }
#endif
}
#endif

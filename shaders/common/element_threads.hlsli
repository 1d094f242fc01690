// Entry point for shaders that compute elements one by one: see made_elements.hlsli. The includer defines make(number),
// and has `element_count` in its constant buffer. If make computes several elements at once, the includer defines Made,
// the type of their bits, and STORE_WORDS(first, words), which stores words of elements starting at number `first`.

#ifndef Made
#define Made uint
#define STORE_WORDS(first, words) target[(first) >> packing] = words;
#endif


[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
#if ELEMENTS == ELEMENTS_PACKED
    const uint per_word = 1u << packing;
    const uint first = number * per_word;
    if (first < element_count) {
        const uint count = min(per_word, element_count - first);
        Made words = 0;
        [loop] for (uint i = 0; i < count; ++i) {
            words |= make(first + i) << (i * BITS_OF(packing));
        }
        STORE_WORDS(first, words)
    }
#else
    if (number < element_count) {
        make(number);
    }
#endif
}

// Access to elements narrower than a word in buffers of 32-bit words.
//
// `packing` is the binary logarithm of the number of elements in a word: 0, 1 or 2. Offsets are in elements from the
// start of the buffer.

#define BITS_OF(packing) (32u >> (packing))
#define MASK_OF(packing) (0xffffffffu >> (32 - BITS_OF(packing)))
#define WORD_OF(packing, offset) ((offset) >> (packing))
#define INDEX_IN_WORD(packing, offset) ((offset) & ((1u << (packing)) - 1))
#define SHIFT_OF(packing, offset) (INDEX_IN_WORD(packing, offset) * BITS_OF(packing))

// The element's bits in the low end, zeros above.
#define LOAD_ELEMENT(buffer, packing, offset) \
    (buffer[WORD_OF(packing, offset)] >> SHIFT_OF(packing, offset) & MASK_OF(packing))

// Stores bits to a part of a word. Other threads may store to the other parts at the same time; these parts are not
// changed.
#define STORE_BITS(buffer, word, mask, bits)        \
    {                                               \
        if ((mask) == 0xffffffff) {                 \
            buffer[word] = (bits);                  \
        } else {                                    \
            InterlockedAnd(buffer[word], ~(mask));  \
            InterlockedOr(buffer[word], (bits));    \
        }                                           \
    }

#define STORE_ELEMENT(buffer, packing, offset, value)                                           \
    STORE_BITS(buffer, WORD_OF(packing, offset), MASK_OF(packing) << SHIFT_OF(packing, offset), \
               ((value) & MASK_OF(packing)) << SHIFT_OF(packing, offset))

// Selects one of the words of 16 bytes; higher bits of the index are ignored.
uint word_of(uint4 words, uint index) {
    const uint2 pair = (index & 2) != 0 ? words.zw : words.xy;
    return (index & 1) != 0 ? pair.y : pair.x;
}

// The bits of four adjacent elements, given the 16 bytes that contain them.
uint4 four_of(uint4 words, uint packing, uint offset) {
    if (packing == 0) {
        return words;
    }
    if (packing == 1) {
        const uint2 pair = (offset & 4) != 0 ? words.zw : words.xy;
        return uint4(pair.x & 0xffff, pair.x >> 16, pair.y & 0xffff, pair.y >> 16);
    }
    const uint word = word_of(words, offset / 4);
    return uint4(word, word >> 8, word >> 16, word >> 24) & 0xff;
}

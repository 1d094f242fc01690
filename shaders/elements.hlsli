// Elements narrower than a word in buffers of 32-bit words.
//
// `packing` is the binary logarithm of how many elements a word has: 0, 1 or 2. Offsets are in elements from the start of the
// buffer.

#define BITS_OF(packing) (32u >> (packing))
#define MASK_OF(packing) (0xffffffffu >> (32 - BITS_OF(packing)))
#define WORD_OF(packing, offset) ((offset) >> (packing))
#define PLACE_OF(packing, offset) ((offset) & ((1u << (packing)) - 1))
#define SHIFT_OF(packing, offset) (PLACE_OF(packing, offset) * BITS_OF(packing))

// The element's bits at the low end, zeros above.
#define LOAD_ELEMENT(buffer, packing, offset) \
    (buffer[WORD_OF(packing, offset)] >> SHIFT_OF(packing, offset) & MASK_OF(packing))

// Stores bits into a word whose other bits other threads may be storing: these are not touched, so that the order does not
// matter.
#define STORE_BITS(buffer, word, mask, bits)        \
    {                                               \
        if ((mask) == 0xffffffff) {                 \
            buffer[word] = (bits);                  \
        } else {                                    \
            InterlockedAnd(buffer[word], ~(mask));  \
            InterlockedOr(buffer[word], (bits));    \
        }                                           \
    }

#define STORE_ELEMENT(buffer, packing, offset, value)                                                        \
    STORE_BITS(buffer, WORD_OF(packing, offset), MASK_OF(packing) << SHIFT_OF(packing, offset),               \
               ((value) & MASK_OF(packing)) << SHIFT_OF(packing, offset))

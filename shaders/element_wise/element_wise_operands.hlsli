// The operands of element_wise.hlsl: their buffers, and loading and storing four elements as bits. Without VECTOR, only
// the first of the four is used.

#define ROWS ((INPUTS + OUTPUTS + 4) / 4)

#if VECTOR
#define Unit uint4
#else
#define Unit uint
#endif

RWStructuredBuffer<Unit> input0 : register(u0);
#if INPUTS > 1
RWStructuredBuffer<Unit> input1 : register(u1);
#endif
#if INPUTS > 2
RWStructuredBuffer<Unit> input2 : register(u2);
#endif
#if INPUTS > 3
RWStructuredBuffer<Unit> input3 : register(u3);
RWStructuredBuffer<Unit> input4 : register(u4);
#endif
#if INPUTS > 5
RWStructuredBuffer<Unit> input5 : register(u5);
RWStructuredBuffer<Unit> input6 : register(u6);
RWStructuredBuffer<Unit> input7 : register(u7);
#endif
// Outputs are bound twice: as units and as words.
#if OUTPUTS == 3
RWStructuredBuffer<Unit> output0 : register(u5);
RWStructuredBuffer<Unit> output1 : register(u6);
RWStructuredBuffer<Unit> output2 : register(u7);
RWStructuredBuffer<uint> output_words0 : register(u8);
RWStructuredBuffer<uint> output_words1 : register(u9);
RWStructuredBuffer<uint> output_words2 : register(u10);
#elif INPUTS == 1
RWStructuredBuffer<Unit> output0 : register(u1);
RWStructuredBuffer<uint> output_words0 : register(u2);
#elif INPUTS == 2
RWStructuredBuffer<Unit> output0 : register(u2);
RWStructuredBuffer<uint> output_words0 : register(u3);
#elif INPUTS == 3
RWStructuredBuffer<Unit> output0 : register(u3);
RWStructuredBuffer<uint> output_words0 : register(u4);
#else
RWStructuredBuffer<Unit> output0 : register(u8);
RWStructuredBuffer<uint> output_words0 : register(u9);
#endif

// The bits of an element in the low end, zeros above. `high` has the upper word of 64-bit elements.
struct Bits {
    uint4 low;
#if WIDE
    uint4 high;
#endif
};

// Offset of operand k's first element, in elements.
#define OFFSET(k) offsets[((k) + 1) / 4][((k) + 1) % 4]

#if VECTOR

// Extracts elements from the 16 bytes that contain the first one; `more` has the next 16 bytes.
Bits bits_in(uint4 words, uint4 more, uint offset, uint4 operand) {
    const uint packing = operand.y;
    Bits bits = (Bits)0;
    bits.low = operand.w;
    if (operand.z == OPERAND_ADJACENT) {
#if WIDE
        if (packing == PACKING_64) {
            bits.low = uint4(words.xz, more.xz);
            bits.high = uint4(words.yw, more.yw);
            return bits;
        }
#endif
        bits.low = four_of(words, packing, offset);
    } else if (operand.z == OPERAND_SAME) {
#if WIDE
        if (packing == PACKING_64) {
            bits.low = (offset & 1) != 0 ? words.z : words.x;
            bits.high = (offset & 1) != 0 ? words.w : words.y;
            return bits;
        }
#endif
        bits.low = word_of(words, WORD_OF(packing, offset)) >> SHIFT_OF(packing, offset) & MASK_OF(packing);
    }
    return bits;
}

// Groups of fewer than three elements may not have 16 bytes after them.
#if WIDE
#define MORE_BITS(k, buffer) \
    buffer[operands[k].y == PACKING_64 && operands[k].z == OPERAND_ADJACENT && size > 2 ? OFFSET(k) / 2 + 1 : 0]
#else
#define MORE_BITS(k, buffer) uint4(0, 0, 0, 0)
#endif
// Load all operands first, so that the loads overlap.
#define FETCH(k, buffer) fetched[k] = buffer[OFFSET(k) >> (operands[k].y + 2)];
#define LOAD_BITS(k, buffer) bits_in(fetched[k], MORE_BITS(k, buffer), OFFSET(k), operands[k])

#define STORE_32(buffer, words, stored, offset)                                                                   \
    if (size == 4) {                                                                                              \
        buffer[offset / 4] = stored.low;                                                                          \
    } else {                                                                                                      \
        words[offset] = stored.low.x;                                                                             \
        if (size > 1) {                                                                                           \
            words[offset + 1] = stored.low.y;                                                                     \
        }                                                                                                         \
        if (size > 2) {                                                                                           \
            words[offset + 2] = stored.low.z;                                                                     \
        }                                                                                                         \
    }

#if WIDE
#define STORE_WORDS(buffer, words, stored, packing, offset)                                                       \
    if (packing == PACKING_64) {                                                                                  \
        words[2 * offset] = stored.low.x;                                                                         \
        words[2 * offset + 1] = stored.high.x;                                                                    \
        if (size > 1) {                                                                                           \
            words[2 * offset + 2] = stored.low.y;                                                                 \
            words[2 * offset + 3] = stored.high.y;                                                                \
        }                                                                                                         \
        if (size > 2) {                                                                                           \
            words[2 * offset + 4] = stored.low.z;                                                                 \
            words[2 * offset + 5] = stored.high.z;                                                                \
        }                                                                                                         \
        if (size > 3) {                                                                                           \
            words[2 * offset + 6] = stored.low.w;                                                                 \
            words[2 * offset + 7] = stored.high.w;                                                                \
        }                                                                                                         \
    } else {                                                                                                      \
        STORE_32(buffer, words, stored, offset)                                                                   \
    }
#else
#define STORE_WORDS(buffer, words, stored, packing, offset) STORE_32(buffer, words, stored, offset)
#endif

#define STORE_OPERAND(k, buffer, words, bits)                                                                     \
    {                                                                                                             \
        const uint packing = operands[k].y;                                                                       \
        const uint offset = OFFSET(k);                                                                            \
        const Bits stored = bits;                                                                                 \
        if (packing == 1) {                                                                                       \
            words[offset / 4 * 2] = stored.low.x | stored.low.y << 16;                                            \
            if (size > 2) {                                                                                       \
                words[offset / 4 * 2 + 1] = stored.low.z | stored.low.w << 16;                                    \
            }                                                                                                     \
        } else if (packing == 2) {                                                                                \
            words[offset / 4] = stored.low.x | stored.low.y << 8 | stored.low.z << 16 | stored.low.w << 24;       \
        } else {                                                                                                  \
            STORE_WORDS(buffer, words, stored, packing, offset)                                                   \
        }                                                                                                         \
    }

#else

Bits one_element(uint low, uint high) {
    Bits bits;
    bits.low = low;
#if WIDE
    bits.high = high;
#endif
    return bits;
}

#if WIDE
uint wide_low(uint word, uint offset, uint packing) {
    return packing == PACKING_64 ? word : word >> SHIFT_OF(packing, offset) & MASK_OF(packing);
}

#define IS_64(k) (operands[k].y == PACKING_64)
// Both branches of a conditional are evaluated, so it selects addresses instead of loads.
#define LOAD_BITS(k, buffer)                                                                                           \
    one_element(wide_low(buffer[IS_64(k) ? 2 * OFFSET(k) : WORD_OF(operands[k].y, OFFSET(k))], OFFSET(k),              \
                         operands[k].y),                                                                               \
                IS_64(k) ? buffer[IS_64(k) ? 2 * OFFSET(k) + 1 : 0] : 0)
#else
#define LOAD_BITS(k, buffer) \
    one_element(operands[k].z == OPERAND_ABSENT ? operands[k].w : LOAD_ELEMENT(buffer, operands[k].y, OFFSET(k)), 0)
#endif

#if WIDE
#define STORE_OPERAND(k, buffer, words, bits)                                                  \
    {                                                                                          \
        const Bits stored = bits;                                                              \
        if (operands[k].y == PACKING_64) {                                                     \
            words[2 * OFFSET(k)] = stored.low.x;                                               \
            words[2 * OFFSET(k) + 1] = stored.high.x;                                          \
        } else {                                                                               \
            STORE_ELEMENT(words, operands[k].y, OFFSET(k), stored.low.x)                       \
        }                                                                                      \
    }
#else
#define STORE_OPERAND(k, buffer, words, bits)                                                  \
    {                                                                                          \
        const Bits stored = bits;                                                              \
        STORE_ELEMENT(words, operands[k].y, OFFSET(k), stored.low.x)                           \
    }
#endif

#endif

// Extends an integer of fewer than 32 bits to 32.
uint4 widened(uint4 bits, uint4 operand) {
    const uint unused_bits = 32 - BITS_OF(operand.y);
    return operand.x == KIND_SIGNED ? uint4(int4(bits << unused_bits) >> unused_bits) : bits;
}

// Truncates and clamps to the operand's range; NaN becomes 0.
uint4 integer_from(float4 number, uint4 operand) {
    const uint width = BITS_OF(operand.y);
    // A number just below the limit truncates to the largest integer, unless the integer has more bits than FP32.
    const float below = 0.99999994;
    float limit;
    uint4 result;
    if (operand.x == KIND_SIGNED) {
        limit = asfloat((126 + width) << 23);
        result = uint4(int4(clamp(number, -limit, limit * below)));
    } else {
        limit = asfloat((127 + width) << 23);
        result = uint4(clamp(number, 0, limit * below));
    }
    if (operand.y == 0) {
        result = number >= limit ? (operand.x == KIND_SIGNED ? 0x7fffffff : 0xffffffff) : result;
    }
    return is_nan(number) ? 0 : result;
}

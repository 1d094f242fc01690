// The tensors of TOP_K1: reads keys, and copies the winners' values and indices to the outputs.
//
// The including shader first defines `uint winner(uint slot)`, the index of the winner in one of its slots.

#include "shaders/top_k1/top_k1_parameters.hlsli"

RWStructuredBuffer<uint> input : register(u0);
RWStructuredBuffer<uint> values : register(u1);
RWStructuredBuffer<uint> indices : register(u2);

// Offsets of a sequence's first element, value and index.
uint3 locate_sequence(uint sequence) {
    uint3 offsets = 0;
    ADD_STRIDED_OFFSETS(offsets, sequence, sequence_dimensions, sequence_dimension_count)
    return offsets;
}

// For 64-bit elements, the key is the number with its sign bit flipped if it is signed, so that unsigned comparison
// sorts it.
#if KEY_WORDS == 2
Entry entry_of_element(uint start, uint index) {
    const uint offset = start + index * input_step;
    Entry entry;
    entry.key = input[2 * offset + 1] ^ sign_flip ^ order_flip;
    entry.low_key = input[2 * offset] ^ order_flip;
    entry.index = index;
    return entry;
}
#else
// The including shader may fix the packing.
#ifdef ELEMENT_PACKING
#define INPUT_PACKING ELEMENT_PACKING
#else
#define INPUT_PACKING packing
#endif

// Numbers are compared as integers, so that subnormals count; -0 becomes +0. Integers take the same path as
// floating-point numbers, because branches on the type would be repeated for each element of a thread.
uint key_of_element(uint start, uint index) {
    const bool is_float = nan_above != 0;
    const uint flip = (is_float ? 0x80000000 : sign_flip) ^ order_flip;
    const uint bits = LOAD_ELEMENT(input, INPUT_PACKING, start + index * input_step) << (32 - BITS_OF(INPUT_PACKING));
    const uint negative = 0 - (bits >> 31);
    const uint key = bits ^ (negative & (is_float ? 0x7fffffff : 0)) ^ flip;
    // Zeros and NaNs become the largest of these.
    const uint doubled = bits + bits - 2;
    const bool is_zero = doubled == 0xfffffffe;
    // NaN comes after all numbers in both directions.
    const uint special_key = is_zero ? flip : 0xffffffff;
    return doubled >= (is_float ? 2 * nan_above : 0xffffffff) ? special_key : key;
}

Entry entry_of_element(uint start, uint index) {
    Entry entry;
    entry.key = key_of_element(start, index);
    entry.index = index;
    return entry;
}
#endif

// The bits of a winner in the low end. If the including shader still has the key, only 0 and NaN must be read again: -0
// has the key of +0, and all NaNs share a key.
uint bits_of_winner(uint start, uint slot) {
#ifdef KEY_OF_WINNER
    const uint key = KEY_OF_WINNER(slot);
    const uint ordered = key ^ order_flip;
    uint bits = ordered ^ sign_flip;
    if (nan_above != 0) {
        bits = (ordered & 0x80000000) != 0 ? ordered ^ 0x80000000 : ~ordered;
    }
    bits >>= 32 - BITS_OF(packing);
    [branch] if (nan_above != 0 && (bits == 0 || key >= 0xffff0000)) {
        bits = LOAD_ELEMENT(input, packing, start + winner(slot) * input_step);
    }
    return bits;
#else
    return LOAD_ELEMENT(input, packing, start + winner(slot) * input_step);
#endif
}

// Adjacent values that share a word are stored by one thread, which avoids atomic operations. So values are stored in
// units: words in this case, otherwise single elements.
bool values_are_in_words() {
    return (packing == 1 || packing == 2) && value_step == 1;
}

uint value_units(uint3 sequence) {
    return values_are_in_words() ? WORD_OF(packing, INDEX_IN_WORD(packing, sequence.y) + k - 1) + 1 : k;
}

// Upper bound for a sequence whose first value is the last element of a word.
uint most_value_units() {
    return values_are_in_words() ? WORD_OF(packing, INDEX_IN_WORD(packing, 0xffffffff) + k - 1) + 1 : k;
}

// `first_slot` is the slot of the sequence's first winner.
void store_value_unit(uint3 sequence, uint first_slot, uint unit) {
    if (values_are_in_words()) {
        uint bits = 0;
        uint mask = 0;
        [loop] for (uint i = 0; i < 1u << packing; ++i) {
            // Negative ranks wrap to very large numbers.
            const uint rank = (unit << packing) + i - INDEX_IN_WORD(packing, sequence.y);
            if (rank < k) {
                bits |= bits_of_winner(sequence.x, first_slot + rank) << (i * BITS_OF(packing));
                mask |= MASK_OF(packing) << (i * BITS_OF(packing));
            }
        }
        STORE_BITS(values, WORD_OF(packing, sequence.y) + unit, mask, bits)
    } else {
        const uint target = sequence.y + unit * value_step;
        if (packing == 3) {
            const uint source = sequence.x + winner(first_slot + unit) * input_step;
            values[2 * target] = input[2 * source];
            values[2 * target + 1] = input[2 * source + 1];
        } else {
            STORE_ELEMENT(values, packing, target, bits_of_winner(sequence.x, first_slot + unit))
        }
    }
}

void store_index(uint3 sequence, uint first_slot, uint rank) {
    const uint target = sequence.z + rank * index_step;
    if (index_words == 2) {
        indices[2 * target] = winner(first_slot + rank);
        indices[2 * target + 1] = 0;
    } else {
        indices[target] = winner(first_slot + rank);
    }
}

// The tensors of TOP_K1: reading keys, and moving the winners' values and indices to the outputs.
//
// The including shader defines `uint winner(uint slot)`, the index of the winner that it holds in a slot of its own,
// before it includes this.

cbuffer Parameters : register(b0) {
    uint sequence_count;
    uint sequence_dimension_count;
    uint k;
    uint packing;      // see elements.hlsli; 3 for 64-bit elements, which are two words
    uint input_step;   // strides along the axis
    uint value_step;
    uint index_step;
    uint index_words;  // 1 or 2
    uint nan_above;    // a number whose magnitude, moved to the top of a word, is above this is NaN; 0 for integers
    uint sign_flip;    // 0x80000000 for signed integers
    uint order_flip;   // 0xffffffff when the largest come first
    uint entry_count;  // of one sequence at the source: elements or candidates
    uint slots;        // of the tile for each sequence, a power of two
    uint run;          // how many winners each sequence has slots for, a power of two
    uint kept;         // how many winners of each tile are kept
    uint sequences_per_tile;
    uint tiles_per_sequence;
    uint sequences_side_by_side;  // 1: adjacent sequences are closer to each other in memory than adjacent elements
    uint picks;        // 1: few winners are picked out of many entries before they are sorted
    uint log_threads;  // binary logarithm of how many threads a sequence has, where few winners are wanted
    uint log_chunk;    // and of how many elements a chunk of a very long sequence has
    uint4 sequence_dimensions[8];  // size, stride in input, values and indices
};

RWStructuredBuffer<uint> input : register(u0);
RWStructuredBuffer<uint> values : register(u1);
RWStructuredBuffer<uint> indices : register(u2);

// Offsets of a sequence's first element, value and index.
uint3 locate_sequence(uint sequence) {
    uint3 offsets = 0;
    ADD_STRIDED_OFFSETS(offsets, sequence, sequence_dimensions, sequence_dimension_count)
    return offsets;
}

// 64-bit elements: the key is the number's bits, but for the sign, so that signed numbers are in the order of unsigned
// ones.
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
// The including shader may know the packing.
#ifdef ELEMENT_PACKING
#define INPUT_PACKING ELEMENT_PACKING
#else
#define INPUT_PACKING packing
#endif

// Numbers are compared as integers, never as floating point: subnormals count, and -0 is made +0. Branches and tests of
// the type would be repeated for each element of a thread, so that integers go the way of floating-point numbers.
uint key_of_element(uint start, uint index) {
    const bool is_float = nan_above != 0;
    const uint flip = (is_float ? 0x80000000 : sign_flip) ^ order_flip;
    const uint bits = LOAD_ELEMENT(input, INPUT_PACKING, start + index * input_step) << (32 - BITS_OF(INPUT_PACKING));
    const uint negative = 0 - (bits >> 31);
    const uint key = bits ^ (negative & (is_float ? 0x7fffffff : 0)) ^ flip;
    // Zeros and NaNs are the largest of these.
    const uint doubled = bits + bits - 2;
    const bool is_zero = doubled == 0xfffffffe;
    // NaN comes after every number, whichever the direction.
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

// The bits of a winner, at the low end. If the including shader still has its key, only 0 and NaN have to be read: -0
// has the key of +0, and all NaNs have the same one.
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

// Values that lie side by side in words are put together by one thread, which spares atomics. So values are stored in
// units: words there, single elements elsewhere.
bool values_are_in_words() {
    return (packing == 1 || packing == 2) && value_step == 1;
}

uint value_units(uint3 sequence) {
    return values_are_in_words() ? WORD_OF(packing, PLACE_OF(packing, sequence.y) + k - 1) + 1 : k;
}

// For a sequence whose values begin with the last element of a word.
uint most_value_units() {
    return values_are_in_words() ? WORD_OF(packing, PLACE_OF(packing, 0xffffffff) + k - 1) + 1 : k;
}

// `first_slot`: of the sequence's winners.
void store_value_unit(uint3 sequence, uint first_slot, uint unit) {
    if (values_are_in_words()) {
        uint bits = 0;
        uint mask = 0;
        [loop] for (uint place = 0; place < 1u << packing; ++place) {
            // Less than none is very many.
            const uint rank = (unit << packing) + place - PLACE_OF(packing, sequence.y);
            if (rank < k) {
                bits |= bits_of_winner(sequence.x, first_slot + rank) << (place * BITS_OF(packing));
                mask |= MASK_OF(packing) << (place * BITS_OF(packing));
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

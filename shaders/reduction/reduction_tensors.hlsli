// The tensors of reductions, and the intermediate states that passes exchange.
//
// COMBINE, NUMBERS, VECTOR, SOURCE, TARGET, FLOAT32  see reduction_parameters.hlsli

#include "shaders/reduction/reduction_parameters.hlsli"

#include "shaders/reduction/reduction_states.hlsli"

#if VECTOR == VECTOR_ITEMS || VECTOR == VECTOR_LINES
#define IS_WIDE 1
#define Unit uint4
#else
#define IS_WIDE 0
#define Unit uint
#endif

RWStructuredBuffer<Unit> input : register(u0);
RWStructuredBuffer<uint> parts_before : register(u1);
RWStructuredBuffer<uint> parts : register(u2);
// The output, as units and as words.
RWStructuredBuffer<Unit> output : register(u3);
RWStructuredBuffer<uint> output_words : register(u4);
#if COMBINE == COMBINE_GRADIENTS
RWStructuredBuffer<Unit> second_input : register(u5);
RWStructuredBuffer<uint> means : register(u6);
#endif

// Rows of a dimension in a table, and the strides in them.
#if COMBINE >= COMBINE_DEVIATIONS
#define ROWS MOST_ROWS
#else
#define ROWS 1
#endif
#define INPUT_OF(offsets) (offsets)[0].y
#define OUTPUT_OF(offsets) (offsets)[0].z
#define LINE_OF(offsets) (offsets)[0].w
#define SECOND_OF(offsets) (offsets)[1].x
#define MEAN_OF(offsets) (offsets)[1].y

#if IS_WIDE && FLOAT32
#define LOAD_BITS(buffer, packing, offset) buffer[(offset) / 4]
#elif IS_WIDE
#define LOAD_BITS(buffer, packing, offset) four_of(buffer[(offset) >> ((packing) + 2)], packing, offset)
#else
#define LOAD_BITS(buffer, packing, offset) LOAD_ELEMENT(buffer, packing, offset)
#endif

#define FLOAT_AT(buffer, packing, kind, offset) real_from(LOAD_ELEMENT(buffer, packing, offset), kind)

#if SOURCE == SOURCE_TENSOR && VECTOR != VECTOR_SPREAD
Item load_item(uint4 line_offsets[ROWS], uint number) {
    STRIDED_OFFSETS(item_offsets, ROWS, number, item_dimensions, item_dimension_count)
    const uint offset = input_start + INPUT_OF(line_offsets) + INPUT_OF(item_offsets);
    Item item = (Item)0;
#if NUMBERS == NUMBERS_TWO_WORDS
    item.low = input[2 * offset];
    item.high = input[2 * offset + 1];
#else
    item.low = LOAD_BITS(input, input_packing, offset);
#endif
#if COMBINE == COMBINE_GRADIENTS
    const uint second_offset = SECOND_OF(line_offsets) + SECOND_OF(item_offsets);
    item.second = LOAD_BITS(second_input, input_packing, second_offset);
#endif
    return item;
}
#elif SOURCE == SOURCE_PARTS
// Loads an intermediate state, whose words are not contiguous.
Item load_item(uint4 line_offsets[ROWS], uint number) {
    const uint part = number * part_line_count + LINE_OF(line_offsets);
    Item item = (Item)0;
    item.low = parts_before[part];
#if KEEPS_B
    item.high = parts_before[parts_before_count + part];
#endif
#if KEEPS_C
    item.second = parts_before[2 * parts_before_count + part];
#endif
    return item;
}
#endif

// The indices of an item's elements along the line.
uint4 index_of(uint item) {
#if VECTOR == VECTOR_ITEMS
    return 4 * item + uint4(0, 1, 2, 3);
#else
    return item;
#endif
}

// The state of a loaded item. Exponentials are summed four at a time: see with_four.
State state_of_loaded(Item item, uint number, float4 mean) {
#if SOURCE == SOURCE_TENSOR && COMBINE != COMBINE_EXPONENTIALS
    return state_of_item(item, index_of(number), mean);
#else
    return state_of(item.low, item.high, item.second);
#endif
}

// The mean of the lines, if it is needed: given, or from a preceding pass's sum.
float4 mean_of_line(uint4 line_offsets[ROWS]) {
#if COMBINE == COMBINE_DEVIATIONS && SOURCE == SOURCE_TENSOR
    return divide_exactly(asfloat(uint4(parts_before[LINE_OF(line_offsets)], 0, 0, 0)), line_size).x;
#elif COMBINE == COMBINE_GRADIENTS && SOURCE == SOURCE_TENSOR
    return FLOAT_AT(means, input_packing, input_kind, MEAN_OF(line_offsets)).x;
#else
    return 0;
#endif
}

void store_part_word(uint4 word, uint part) {
    parts[part] = word.x;
#if VECTOR == VECTOR_LINES
    parts[part + 1] = word.y;
    parts[part + 2] = word.z;
    parts[part + 3] = word.w;
#endif
}

void store_part(State state, uint chunk, uint line_number) {
#if VECTOR == VECTOR_LINES
    const uint part = chunk * part_line_count + 4 * line_number;
#else
    const uint part = chunk * part_line_count + line_number;
#endif
    store_part_word(state.a, part);
#if KEEPS_B
    store_part_word(state.b, part_count + part);
#endif
#if KEEPS_C
    store_part_word(state.c, 2 * part_count + part);
#endif
}

void store_result(uint offset, uint low, uint high) {
    if (output_packing == PACKING_64) {
        output_words[2 * offset] = low;
        output_words[2 * offset + 1] = high;
    } else {
        STORE_ELEMENT(output_words, output_packing, offset, low)
    }
}

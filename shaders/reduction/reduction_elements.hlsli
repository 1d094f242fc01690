// Converts a line's result to an element of the output, or to all elements of the line.

#if TARGET == TARGET_RESULTS || TARGET == TARGET_JOINED

#if COMBINE == COMBINE_EXTREME && NUMBERS == NUMBERS_WORD
#define RESULT_LOW(state) bits_of_key(state.a)
#define RESULT_HIGH(state) uint4(0, 0, 0, 0)
#elif COMBINE == COMBINE_EXTREME
#define RESULT_LOW(state) (state.b ^ order_flip)
#define RESULT_HIGH(state) (state.a ^ sign_flip ^ order_flip)
#elif COMBINE == COMBINE_FIRST_EXTREME
#define RESULT_LOW(state) index_in(state)
#define RESULT_HIGH(state) uint4(0, 0, 0, 0)
#elif NUMBERS == NUMBERS_REAL && COMBINE < COMBINE_RANGE
#define RESULT_LOW(state) bits_from_real(real_result(state), output_kind)
#define RESULT_HIGH(state) uint4(0, 0, 0, 0)
#else
#define RESULT_LOW(state) (state.a)
#define RESULT_HIGH(state) (state.b)
#endif

void store_results(State state, uint4 line_offsets[ROWS]) {
    const uint offset = OUTPUT_OF(line_offsets);
    const uint4 low = RESULT_LOW(state);
    const uint4 high = RESULT_HIGH(state);
    store_result(offset, low.x, high.x);
#if VECTOR == VECTOR_LINES
    store_result(offset + output_step, low.y, high.y);
    store_result(offset + 2 * output_step, low.z, high.z);
    store_result(offset + 3 * output_step, low.w, high.w);
#endif
}

#endif

#if TARGET == TARGET_ELEMENTS

// Computes what all elements of the line share.
State line_result(State state) {
#if COMBINE == COMBINE_EXPONENTIALS
    const float4 sum = asfloat(state.b);
    const float4 number = finish == FINISH_SOFTMAX ? 1 / sum : log_exactly(sum);
    // Undefined next to an infinity, and if all elements are -infinity.
    state.b = is_infinite(asfloat(state.a)) ? asuint(not_a_number()) : asuint(number);
#elif COMBINE == COMBINE_SUM
    const float4 sum = asfloat(state.a);
    const float4 square = (map == MAP_SQUARE ? sum : sum * sum) + epsilon;
    state.a = asuint(square < 0 ? not_a_number() : sqrt_exactly(square));
#endif
    return state;
}

#if KEPT && COMBINE == COMBINE_EXPONENTIALS
// The new element, from the kept exponential or the kept element.
float4 kept_result(float4 kept, State result) {
    float4 numbers = kept * asfloat(result.b);
    [branch] if (finish != FINISH_SOFTMAX) {
        numbers = (kept - asfloat(result.a)) - asfloat(result.b);
    }
    return numbers;
}
#endif

// `x` is the element, if the result depends on it.
float4 new_element(float4 x, uint4 index, State result) {
#if COMBINE == COMBINE_EXPONENTIALS
    const float4 distance = x - asfloat(result.a);
    const float4 number = asfloat(result.b);
    float4 result_number = distance - number;
    [branch] if (finish == FINISH_SOFTMAX) {
        result_number = exponential_below_one(distance) * number;
    }
    return result_number;
#elif COMBINE == COMBINE_FIRST_EXTREME
    return index == index_in(result) ? 1.0 : 0.0;
#else
    return divide_exactly(x, asfloat(result.a));
#endif
}

#if VECTOR != VECTOR_SPREAD
float4 element_at(uint4 line_offsets[ROWS], uint number) {
#if COMBINE == COMBINE_FIRST_EXTREME
    return 0;
#else
    return real_from(load_item(line_offsets, number).low, input_kind);
#endif
}

void store_item(uint4 line_offsets[ROWS], uint number, float4 numbers) {
    STRIDED_OFFSETS(item_offsets, ROWS, number, item_dimensions, item_dimension_count)
    const uint offset = OUTPUT_OF(line_offsets) + OUTPUT_OF(item_offsets);
    const uint4 bits = bits_from_real(numbers, output_kind);
#if IS_WIDE && FLOAT32
    output[offset / 4] = bits;
#elif IS_WIDE
    if (output_packing == 0) {
        output[offset / 4] = bits;
    } else {
        output_words[offset / 2] = bits.x | bits.y << 16;
        output_words[offset / 2 + 1] = bits.z | bits.w << 16;
    }
#else
    STORE_ELEMENT(output_words, output_packing, offset, bits.x)
#endif
}

#endif

#if KEPT && VECTOR != VECTOR_SPREAD
// Everything is loaded first, so that the loads overlap. Missing items are ignored.
float4 kept_element(uint4 line_offsets[ROWS], uint number, uint last_item) {
    const float4 loaded = element_at(line_offsets, min(number, max(last_item, 1) - 1));
#if COMBINE == COMBINE_EXPONENTIALS
    return number < last_item ? loaded : -infinity();
#else
    return number < last_item ? loaded : 0;
#endif
}

State state_of_number(float4 x) {
    return state_of(map == MAP_SQUARE ? asuint(x * x) : asuint(magnitude_of(x)), 0, 0);
}
#endif

#endif

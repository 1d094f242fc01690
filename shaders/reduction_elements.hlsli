// What becomes of a line's result: results in the output, or elements of it.

#if TARGET == TARGET_RESULTS

#if COMBINE == COMBINE_EXTREME && NUMBERS == NUMBERS_WORD
#define RESULT_LOW(state) bits_of_key(state.a)
#define RESULT_HIGH(state) uint4(0, 0, 0, 0)
#elif COMBINE == COMBINE_EXTREME
#define RESULT_LOW(state) (state.b ^ order_flip)
#define RESULT_HIGH(state) (state.a ^ sign_flip ^ order_flip)
#elif COMBINE == COMBINE_FIRST_EXTREME
#define RESULT_LOW(state) place_of(state)
#define RESULT_HIGH(state) uint4(0, 0, 0, 0)
#elif NUMBERS == NUMBERS_REAL && COMBINE < COMBINE_RANGE
#define RESULT_LOW(state) bits_from_real(real_result(state), output_kind)
#define RESULT_HIGH(state) uint4(0, 0, 0, 0)
#else
#define RESULT_LOW(state) (state.a)
#define RESULT_HIGH(state) (state.b)
#endif

void store_results(State state, uint4 line_place[ROWS]) {
    const uint offset = OUTPUT_OF(line_place);
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

// x is the element, if the result depends on it.
float4 new_element(float4 x, uint4 index, State state) {
#if COMBINE == COMBINE_EXPONENTIALS
    const float4 distance = x - asfloat(state.a);
    const float4 sum = asfloat(state.b);
    float4 result = distance - log_exactly(sum);
    if (finish == FINISH_SOFTMAX) {
        result = unless_nan(distance, exp_exactly(distance) / sum);
    }
    return is_infinite(asfloat(state.a)) ? not_a_number() : result;
#elif COMBINE == COMBINE_FIRST_EXTREME
    return index == place_of(state) ? 1.0 : 0.0;
#else
    const float4 sum = asfloat(state.a);
    const float4 square = (map == MAP_SQUARE ? sum : sum * sum) + epsilon;
    return divide_exactly(x, square < 0 ? not_a_number() : sqrt_exactly(square));
#endif
}

float4 element_at(uint4 line_place[ROWS], uint number) {
#if COMBINE == COMBINE_FIRST_EXTREME
    return 0;
#else
    return real_from(load_item(line_place, number).low, input_kind);
#endif
}

void store_item(uint4 line_place[ROWS], uint number, float4 numbers) {
    STRIDED_OFFSETS(item_place, ROWS, number, item_dimensions, item_dimension_count)
    const uint offset = OUTPUT_OF(line_place) + OUTPUT_OF(item_place);
    const uint4 bits = bits_from_real(numbers, output_kind);
#if VECTOR
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

#if KEPT
#if COMBINE == COMBINE_EXPONENTIALS
// The thread's elements, as exponentials relative to their own largest where the result is a quotient of exponentials.
State kept_state(inout float4 kept[MOST_KEPT], uint4 line_place[ROWS], uint first, uint last_item) {
    float4 most = -infinity();
    uint k;
    [unroll] for (k = 0; k < MOST_KEPT; ++k) {
        // All are loaded, so that a thread waits once.
        const uint number = first + k * threads_per_line;
        const float4 loaded = element_at(line_place, min(number, max(last_item, 1) - 1));
        kept[k] = number < last_item ? loaded : -infinity();
        most = kept[k] > most ? kept[k] : most;
    }
#if VECTOR == VECTOR_ITEMS
    const float2 half_most = most.xy > most.zw ? most.xy : most.zw;
    most = half_most.x > half_most.y ? half_most.x : half_most.y;
#endif
    const float4 base = asuint(most) == 0xff800000 ? 0 : most;
    float4 sum = 0;
    [unroll] for (k = 0; k < MOST_KEPT; ++k) {
        const float4 power = exponential_or_nan(kept[k] - base);
        kept[k] = finish == FINISH_SOFTMAX ? power : kept[k];
        sum += power;
    }
#if VECTOR == VECTOR_ITEMS
    sum = (sum.x + sum.y) + (sum.z + sum.w);
#endif
    return state_of(asuint(most), asuint(sum), 0);
}

// For the thread's elements.
float4 factor_of_kept(State own, State line_state) {
    const float4 distance = own.a == line_state.a ? 0 : asfloat(own.a) - asfloat(line_state.a);
    return exp_exactly(distance) / asfloat(line_state.b);
}

float4 kept_element(float4 kept, float4 factor, State line_state) {
    if (finish == FINISH_SOFTMAX) {
        return is_infinite(asfloat(line_state.a)) ? not_a_number() : kept * factor;
    }
    return new_element(kept, 0, line_state);
}
#else
State kept_state(inout float4 kept[MOST_KEPT], uint4 line_place[ROWS], uint first, uint last_item) {
    State state = no_items();
    [unroll] for (uint k = 0; k < MOST_KEPT; ++k) {
        // All are loaded, so that a thread waits once.
        const uint number = first + k * threads_per_line;
        const Item item = load_item(line_place, min(number, max(last_item, 1) - 1));
        kept[k] = real_from(item.low, input_kind);
        if (number < last_item) {
            state = combined(state, state_of_loaded(item, number, 0));
        }
    }
#if VECTOR == VECTOR_ITEMS
    state = collapsed(state);
#endif
    return state;
}
#endif
#endif

#endif

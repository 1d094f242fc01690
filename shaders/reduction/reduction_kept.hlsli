// Lines whose items a thread keeps in registers, from reading them until it writes new elements.
//
// COMBINE, VECTOR, KEPT  see reduction.hlsl

#if VECTOR == VECTOR_SPREAD

// True if no words of the line are missing.
bool is_whole(Work work) {
    return work.exists && word_count == WORDS_PER_ITEM * KEPT * threads_per_line;
}

// The numbers in their line of the words of a thread's item.
uint4 spread_numbers(Work work, uint k) {
    return work.lane + uint4(0, 1, 2, 3) * threads_per_line + WORDS_PER_ITEM * k * threads_per_line;
}

void load_kept(inout float4 kept[KEPT], Work work, uint4 line_offsets[ROWS]) {
    const uint line_start = input_start + INPUT_OF(line_offsets);
    uint k;
    [branch] if (is_whole(work)) {
        const uint start = line_start + work.lane * item_dimensions[0].y;
        const uint distance = threads_per_line * item_dimensions[0].y;
        [unroll] for (k = 0; k < KEPT; ++k) {
            kept[k] = numbers_of_spread(load_spread(start + WORDS_PER_ITEM * k * distance, distance));
        }
    } else {
        [unroll] for (k = 0; k < KEPT; ++k) {
            kept[k] = elements_of_rest(line_start, spread_numbers(work, k), word_count);
        }
    }
}

void store_kept(float4 kept[KEPT], Work work, uint4 line_offsets[ROWS], State result) {
    const uint line_start = OUTPUT_OF(line_offsets);
    uint k;
    [branch] if (is_whole(work)) {
        const uint start = line_start + work.lane * item_dimensions[0].z;
        const uint distance = threads_per_line * item_dimensions[0].z;
        [unroll] for (k = 0; k < KEPT; ++k) {
            store_spread(start + WORDS_PER_ITEM * k * distance, distance, kept_result(kept[k], result));
        }
    } else if (work.exists) {
        [unroll] for (k = 0; k < KEPT; ++k) {
            store_rest(line_start, spread_numbers(work, k), word_count, kept_result(kept[k], result));
        }
    }
}

#else

uint item_of(Work work, uint k) {
    return work.first_item + work.lane + k * threads_per_line;
}

void load_kept(inout float4 kept[KEPT], Work work, uint4 line_offsets[ROWS]) {
    [unroll] for (uint k = 0; k < KEPT; ++k) {
        kept[k] = kept_element(line_offsets, item_of(work, k), work.last_item);
    }
}

void store_kept(float4 kept[KEPT], Work work, uint4 line_offsets[ROWS], State result) {
    [unroll] for (uint k = 0; k < KEPT; ++k) {
        const uint item = item_of(work, k);
        if (item < work.last_item) {
#if COMBINE == COMBINE_EXPONENTIALS
            store_item(line_offsets, item, kept_result(kept[k], result));
#else
            store_item(line_offsets, item, new_element(kept[k], index_of(item), result));
#endif
        }
    }
}

#endif

#if COMBINE == COMBINE_EXPONENTIALS

// As over_line, for numbers: maximum or sum. Each is called only once, because no barrier protects the memory from the
// next use.
#define OVER_LINE(name, memory, combination)                                           \
    float4 name(float4 number, Work work) {                                            \
        const uint rows = ROWS_PER_LINE;                                               \
        const uint first = work.first_thread;                                          \
        const uint own = first + work.lane * work.lane_distance;                       \
        uint i;                                                                        \
        if (threads_per_line > 1) {                                                    \
            memory[own] = LANES_OF(asuint(number));                                    \
            GroupMemoryBarrierWithGroupSync();                                         \
            if (rows > 1) {                                                            \
                if (work.lane < columns_per_line) {                                    \
                    [loop] for (i = 1; i < rows; ++i) {                                \
                        const uint lane = work.lane + i * columns_per_line;            \
                        const uint4 words = memory[first + lane * work.lane_distance]; \
                        number = combination(number, asfloat(words));                  \
                    }                                                                  \
                    memory[own] = LANES_OF(asuint(number));                            \
                }                                                                      \
                GroupMemoryBarrierWithGroupSync();                                     \
            }                                                                          \
            const uint4 first_words = memory[first];                                   \
            number = asfloat(first_words);                                             \
            [loop] for (i = 1; i < columns_per_line; ++i) {                            \
                const uint4 words = memory[first + i * work.lane_distance];            \
                number = combination(number, asfloat(words));                          \
            }                                                                          \
        }                                                                              \
        return number;                                                                 \
    }

float4 sum_of(float4 x, float4 y) {
    return x + y;
}

OVER_LINE(most_over_line, shared_a, larger)
OVER_LINE(sum_over_line, shared_b, sum_of)

// The maximum of a line, and the sum of exponentials relative to it. For softmax these replace what is kept, so that
// each is computed only once.
State reduced(inout float4 kept[KEPT], Work work) {
    uint k;
    float4 most = kept[0];
    [unroll] for (k = 1; k < KEPT; ++k) {
        most = larger(most, kept[k]);
    }
    most = most_over_line(largest_lane(most), work);
    const float4 base = base_of(most);
    float4 sum = 0;
    [branch] if (finish == FINISH_SOFTMAX) {
        [unroll] for (k = 0; k < KEPT; ++k) {
            kept[k] = exponential_below_one(kept[k] - base);
            sum += kept[k];
        }
    } else {
        [unroll] for (k = 0; k < KEPT; ++k) {
            sum += exponential_below_one(kept[k] - base);
        }
    }
    sum = sum_over_line(sum_of_lanes(sum), work);
    return state_of(asuint(most), asuint(sum), 0);
}

#else

State reduced(inout float4 kept[KEPT], Work work) {
    State state = no_items();
    [unroll] for (uint k = 0; k < KEPT; ++k) {
        state = combined(state, state_of_number(kept[k]));
    }
#if VECTOR == VECTOR_ITEMS
    state = collapsed(state);
#endif
    return over_line(state, work);
}

#endif

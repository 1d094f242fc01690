// The state of a partly processed window, and how it is finished: see window.hlsl.

#define IS_LARGEST \
    (FUNCTION == WINDOW_LARGEST || FUNCTION == WINDOW_LARGEST_INDEX || FUNCTION == WINDOW_LARGEST_TWO_WORDS)

#if LANES == 4
#define Words uint4
#define Integers int4
#define Reals float4
#define Truths bool4
#if ELEMENTS == ELEMENTS_WORDS
#define REALS_OF(words) asfloat(words)
#define BITS_OF_REALS(numbers) asuint(numbers)
#else
#define REALS_OF(words) float_from_half(words)
#define BITS_OF_REALS(numbers) half_from_float(numbers)
#endif
#define LOAD_LANES(offset)                                                                                        \
    uint4(LOAD(source, offset), LOAD(source, offset + lane_strides.x), LOAD(source, offset + 2 * lane_strides.x), \
          LOAD(source, offset + 3 * lane_strides.x))
#else
#define Words uint
#define Integers int
#define Reals float
#define Truths bool
#define REALS_OF(words) real_from(words)
#define BITS_OF_REALS(numbers) bits_from(numbers)
#define LOAD_LANES(offset) LOAD(source, offset)
#endif

#if IS_LARGEST

#if ELEMENTS == ELEMENTS_WORDS
#define UNUSED_BITS 0
#else
#define UNUSED_BITS (32 - BITS_OF(packing))
#endif

struct State {
    Integers key;
#if FUNCTION != WINDOW_LARGEST
    Words low;  // its bits
    Words high;
    Words index;
#endif
};

State nothing(uint first_index) {
    State state = (State)0;
    // Elements with this key have these bits.
    state.key = int(0x80000000);
#if FUNCTION != WINDOW_LARGEST
    state.low = lowest_low;
    state.high = lowest_high;
    state.index = first_index;
#endif
    return state;
}

// Keys are signed integers in the order of the elements. The magnitudes of floating-point numbers get their sign; then
// NaN, which is above infinity, wraps to below all numbers. Unsigned integers are shifted by half of their range.

#if FUNCTION == WINDOW_LARGEST

// Each key corresponds to one bit pattern.
Integers key_of(Words bits) {
    const Words top = bits << UNUSED_BITS;
    const Words sign = Words(Integers(top) >> 31) & sign_mask;
    return Integers((top ^ sign >> 1) + key_offset);
}

Words bits_of_key(Integers key) {
    const Words moved = Words(key) - key_offset;
    const Words sign = Words(Integers(moved) >> 31) & sign_mask;
    return (moved ^ sign >> 1) >> UNUSED_BITS;
}

void see(inout State state, uint offset, uint second_offset, uint column) {
    state.key = max(state.key, key_of(LOAD_LANES(offset)));
}

#elif FUNCTION == WINDOW_LARGEST_INDEX

// Both zeros have the same key, and so have all NaNs: the first of equal elements counts.
Integers key_of(Words bits) {
    const Words top = bits << UNUSED_BITS;
    const Words sign = Words(Integers(top) >> 31) & sign_mask;
    return max(Integers((top ^ sign >> 1) - sign + key_offset), int(nan_key));
}

void see(inout State state, uint offset, uint second_offset, uint column) {
    const Words bits = LOAD_LANES(offset);
    const Integers key = key_of(bits);
    const Truths better = key > state.key;
    state.key = better ? key : state.key;
    state.low = better ? bits : state.low;
    state.index = better ? second_offset : state.index;
}

#else

void see(inout State state, uint offset, uint second_offset, uint column) {
    const uint low = source[2 * offset];
    const uint high = source[2 * offset + 1];
    const int key = int(high + key_offset);
    if (key > state.key || (key == state.key && low > state.low)) {
        state.key = key;
        state.low = low;
        state.high = high;
        state.index = second_offset;
    }
}

#endif

#if FUNCTION != WINDOW_LARGEST
void store_index(uint offset, uint found) {
    if (index_words == 2) {
        second_target[2 * offset] = found;
        second_target[2 * offset + 1] = 0;
    } else if (index_words == 1) {
        second_target[offset] = found;
    }
}

// Indices of lanes are those in the first plane, plus a multiple of the plane's size.
void store_indices(uint offset, bool any, Words found) {
#if LANES == 4
    const uint4 lane = uint4(0, 1, 2, 3);
    const uint4 all = found + (any ? lane * lane_strides.y : 0);
    store_index(offset, all.x);
    store_index(offset + lane_strides.w, all.y);
    store_index(offset + 2 * lane_strides.w, all.z);
    store_index(offset + 3 * lane_strides.w, all.w);
#else
    store_index(offset, found);
#endif
}
#endif

#else

struct State {
    Reals sum;
#if FUNCTION == WINDOW_AVERAGE_GRADIENT
    float outer_divisor;
#elif FUNCTION == WINDOW_LARGEST_GRADIENT
    uint number;
#elif FUNCTION == WINDOW_QUANTIZED_AVERAGE
    float scale;
    float zero_point;
#endif
};

#if FUNCTION == WINDOW_QUANTIZED_AVERAGE

float integer_from(uint bits, uint bits_kind) {
    return bits_kind == KIND_SIGNED ? float(int(bits << 24) >> 24) : float(bits);
}

State nothing(uint channel) {
    State state = (State)0;
    state.scale = asfloat(input_scales[channel * parameter_strides.x]);
    [branch] if ((parameters_present & 1) != 0) {
        const uint bits = LOAD_ELEMENT(input_zero_points, 2, channel * parameter_strides.y);
        state.zero_point = integer_from(bits, kind);
    }
    return state;
}

#elif FUNCTION == WINDOW_LARGEST_GRADIENT

State nothing(uint number) {
    State state;
    state.sum = 0;
    state.number = number;
    return state;
}

#else

State nothing(uint first_index) {
    return (State)0;
}

#endif

void see(inout State state, uint offset, uint second_offset, uint column) {
#if FUNCTION == WINDOW_QUANTIZED_AVERAGE
    // Each for itself, because infinite scales make NaN of opposite signs.
    state.sum += (integer_from(LOAD(source, offset), kind) - state.zero_point) * state.scale;
#elif FUNCTION == WINDOW_AVERAGE
    state.sum += REALS_OF(LOAD_LANES(offset));
#elif FUNCTION == WINDOW_ROOT
    const float x = asfloat(asuint(REAL(source, offset)) & 0x7fffffff);
    float term = x;
    [branch] if (exponent == 2) {
        term = x * x;
    } else if (exponent != 1) {
        term = power(x, exponent).x;
    }
    state.sum += term;
#elif FUNCTION == WINDOW_AVERAGE_GRADIENT
    state.sum += divide_exactly(float4(REAL(source, offset), 0, 0, 0), state.outer_divisor * divisor_of(column, 0)).x;
#elif FUNCTION == WINDOW_LARGEST_GRADIENT
    if (second[second_offset] == state.number) {
        state.sum += REAL(source, offset);
    }
#elif FUNCTION == WINDOW_RESPONSE_GRADIENT
    state.sum += asfloat(source[offset]);
#else
    const float x = REAL(source, offset);
    state.sum += x * x;
#endif
}

#if FUNCTION == WINDOW_AVERAGE || FUNCTION == WINDOW_QUANTIZED_AVERAGE
// The divisor of a window that covers `seen` elements.
float counted(float seen) {
    const float elements = float(windows[0].x) * float(windows[2].x) * float(windows[4].x);
    return includes_padding != 0 ? elements : seen;
}
#endif

#if FUNCTION == WINDOW_AVERAGE
Reals average(State state, float seen) {
#if LANES == 4
    return divide_exactly(state.sum, counted(seen));
#else
    return divide_exactly(float4(state.sum, 0, 0, 0), counted(seen)).x;
#endif
}
#elif FUNCTION == WINDOW_ROOT
float root(State state) {
    float result = state.sum;
    [branch] if (exponent == 2) {
        result = sqrt_exactly(state.sum).x;
    } else if (exponent != 1) {
        result = power(state.sum, inverse_exponent).x;
    }
    return result;
}
#elif FUNCTION == WINDOW_QUANTIZED_AVERAGE
uint quantized_average(State state, float seen, uint channel) {
    const float output_scale = asfloat(output_scales[channel * parameter_strides.z]);
    float zero_point = 0;
    [branch] if ((parameters_present & 2) != 0) {
        const uint bits = LOAD_ELEMENT(output_zero_points, 2, channel * parameter_strides.w);
        zero_point = integer_from(bits, output_kind);
    }
    const float4 mean = divide_exactly(float4(state.sum, 0, 0, 0), counted(seen));
    const float number = divide_exactly(mean, output_scale).x;
    const float least = output_kind == KIND_SIGNED ? -128 : 0;
    const float moved = round(number) + zero_point;
    return uint(int(is_nan(number) ? least : clamp(moved, least, least + 255))) & 0xff;
}
#elif FUNCTION == WINDOW_RESPONSE || FUNCTION == WINDOW_RESPONSE_PARTS
float base_of(State state) {
    return bias + factor * state.sum;
}
#endif

#endif

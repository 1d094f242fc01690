// The state of a partly reduced line, and how states are merged. It has four lanes: of one line, of four lines, or all
// equal.
//
// COMBINE, NUMBERS, FLOAT32  see reduction_parameters.hlsli

#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/half_elements.hlsli"
#include "shaders/common/activation.hlsli"
#include "shaders/element_wise/element_wise_functions.hlsli"
#include "shaders/common/int64.hlsli"
#include "shaders/common/not_zero.hlsli"

#define IS_EXTREME (COMBINE == COMBINE_EXTREME || COMBINE == COMBINE_FIRST_EXTREME)

// Which words of a state are used: both words of 64-bit numbers, keys before indices.
#if COMBINE == COMBINE_EXTREME || COMBINE == COMBINE_SUM || (COMBINE == COMBINE_PRODUCT && NUMBERS != NUMBERS_REAL)
#define KEEPS_B (NUMBERS == NUMBERS_TWO_WORDS)
#define KEEPS_C 0
#elif COMBINE == COMBINE_FIRST_EXTREME
#define KEEPS_B 1
#define KEEPS_C (NUMBERS == NUMBERS_TWO_WORDS)
#else
#define KEEPS_B 1
#define KEEPS_C 0
#endif

struct State {
    uint4 a;
    uint4 b;
    uint4 c;
};

State state_of(uint4 a, uint4 b, uint4 c) {
    State state;
    state.a = a;
    state.b = b;
    state.c = c;
    return state;
}

State chosen(bool4 condition, State x, State y) {
    return state_of(condition ? x.a : y.a, condition ? x.b : y.b, condition ? x.c : y.c);
}

// The bits of elements in memory.
struct Item {
    uint4 low;
    uint4 high;
    uint4 second;  // of a second tensor
};

float4 real_from(uint4 bits, uint kind) {
    float4 number = asfloat(bits);
#if !FLOAT32
    [branch] if (kind == KIND_FLOAT16) {
        number = float_from_half(bits);
    }
#endif
    return number;
}

uint4 bits_from_real(float4 number, uint kind) {
    uint4 bits = asuint(number);
#if !FLOAT32
    [branch] if (kind == KIND_FLOAT16) {
        bits = half_from_float(number);
    }
#endif
    return bits;
}

#if COMBINE == COMBINE_SUM

#if NUMBERS == NUMBERS_REAL
State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    const float4 x = real_from(item.low, input_kind);
    float4 mapped = x;
    [branch] if (map == MAP_SQUARE) {
        mapped = x * x;
    } else if (map == MAP_MAGNITUDE) {
        mapped = magnitude_of(x);
    }
    return state_of(asuint(mapped), 0, 0);
}

// The same without branches.
float4 mapped(uint4 bits, uint magnitude_bits, bool is_squared) {
    const float4 x = asfloat(bits & magnitude_bits);
    return x * (is_squared ? x : 1);
}

State combined(State x, State y) {
    return state_of(asuint(asfloat(x.a) + asfloat(y.a)), 0, 0);
}

float4 real_result(State state) {
    const float4 sum = asfloat(state.a);
    if (finish == FINISH_MEAN) {
        return divide_exactly(sum, line_size);
    }
    if (finish == FINISH_ROOT) {
        return sqrt_exactly(sum);
    }
    if (finish == FINISH_LOGARITHM) {
        return log_exactly(sum);
    }
    return sum;
}
#elif NUMBERS == NUMBERS_WORD
State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    const uint4 x = item.low;
    const uint4 magnitude = input_kind == KIND_SIGNED && int4(x) < 0 ? 0 - x : x;
    return state_of(map == MAP_SQUARE      ? x * x
                    : map == MAP_MAGNITUDE ? magnitude
                    : map == MAP_IS_NOT_ZERO ? is_not_zero(x)
                                             : x,
                    0, 0);
}

State combined(State x, State y) {
    return state_of(x.a + y.a, 0, 0);
}
#else
State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    Int64 x = int64_of(item.low, item.high);
    if (map == MAP_SQUARE) {
        x = multiply(x, x);
    } else if (map == MAP_MAGNITUDE) {
        x = negate_if(input_kind == KIND_SIGNED && int4(x.high) < 0, x);
    }
    return state_of(x.low, x.high, 0);
}

State combined(State x, State y) {
    const Int64 sum = add(int64_of(x.a, x.b), int64_of(y.a, y.b));
    return state_of(sum.low, sum.high, 0);
}
#endif

#elif COMBINE == COMBINE_PRODUCT

#if NUMBERS == NUMBERS_REAL
// A product is a significand from 1 to 2, or a special number, and a power of two. So partial products cannot leave
// FP32's range, whatever the order of factors.
State no_items() {
    return state_of(0x3f800000, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    const float4 x = real_from(item.low, input_kind);
    const uint4 magnitude = asuint(x) & 0x7fffffff;
    const bool4 subnormal = magnitude < 0x00800000;
    const uint4 bits = asuint(subnormal ? float4(magnitude) : asfloat(magnitude));
    const uint4 significand = (bits & 0x007fffff) | 0x3f800000 | (asuint(x) & 0x80000000);
    const int4 exponent = int4(bits >> 23) - 127 - (subnormal ? 149 : 0);
    const bool4 special = magnitude == 0 || magnitude >= 0x7f800000;
    return state_of(special ? asuint(x) : significand, special ? 0 : uint4(exponent), 0);
}

State combined(State x, State y) {
    const float4 product = asfloat(x.a) * asfloat(y.a);
    const bool4 large = (asuint(product) & 0x7f800000) == 0x40000000;
    const int4 exponent = clamp(int4(x.b) + int4(y.b) + (large ? 1 : 0), -0x10000000, 0x10000000);
    return state_of(asuint(large ? product * 0.5 : product), uint4(exponent), 0);
}

float4 real_result(State state) {
    return times_power_of_two(asfloat(state.a), clamp(int4(state.b), -252, 254));
}
#elif NUMBERS == NUMBERS_WORD
State no_items() {
    return state_of(1, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    return state_of(item.low, 0, 0);
}

State combined(State x, State y) {
    return state_of(x.a * y.a, 0, 0);
}
#else
State no_items() {
    return state_of(1, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    return state_of(item.low, item.high, 0);
}

State combined(State x, State y) {
    const Int64 product = multiply(int64_of(x.a, x.b), int64_of(y.a, y.b));
    return state_of(product.low, product.high, 0);
}
#endif

#elif IS_EXTREME

// Elements are compared by keys: unsigned integers, the largest of which wins. NaN has key 0, unlike all numbers.
// Elements of fewer than 32 bits are at the top of a word.
uint4 key_of(uint4 bits) {
    const uint4 top = bits << (32 - BITS_OF(input_packing));
    const uint4 magnitude = top & 0x7fffffff;
    uint4 key = top ^ sign_flip;
    if (nan_above != 0) {
        key = (top & 0x80000000) != 0 ? ~top : top | 0x80000000;
#if COMBINE == COMBINE_FIRST_EXTREME
        key = magnitude == 0 ? 0x80000000 : key;
#endif
    }
    key ^= order_flip;
    return nan_above != 0 && magnitude > nan_above ? 0 : key;
}

// The bits of the element with this key. If there was no number at all: the infinity that loses to every number.
uint4 bits_of_key(uint4 key) {
    const uint4 flipped = key ^ order_flip;
    uint4 top = flipped ^ sign_flip;
    if (nan_above != 0) {
        const uint4 infinity_bits = nan_above | (order_flip == 0 ? 0x80000000 : 0);
        top = (flipped & 0x80000000) != 0 ? flipped & 0x7fffffff : ~flipped;
        top = key == 0 ? infinity_bits : top;
    }
    return top >> (32 - BITS_OF(input_packing));
}

#if COMBINE == COMBINE_EXTREME
#if NUMBERS == NUMBERS_WORD
State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    return state_of(key_of(item.low), 0, 0);
}

State combined(State x, State y) {
    return state_of(max(x.a, y.a), 0, 0);
}
#else
State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    return state_of(item.high ^ sign_flip ^ order_flip, item.low ^ order_flip, 0);
}

State combined(State x, State y) {
    return chosen(x.a > y.a || (x.a == y.a && x.b > y.b), x, y);
}
#endif
#else
// Ranks of indices: of equal keys, the smallest index wins.
#if NUMBERS == NUMBERS_WORD
State no_items() {
    return state_of(0, 0xffffffff, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    return state_of(key_of(item.low), index ^ rank_flip, 0);
}

State combined(State x, State y) {
    return chosen(x.a > y.a || (x.a == y.a && x.b < y.b), x, y);
}

uint4 index_in(State state) {
    return state.b ^ rank_flip;
}
#else
State no_items() {
    return state_of(0, 0, 0xffffffff);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    return state_of(item.high ^ sign_flip ^ order_flip, item.low ^ order_flip, index ^ rank_flip);
}

State combined(State x, State y) {
    const bool4 equal_keys = x.a == y.a && x.b == y.b;
    return chosen(x.a > y.a || (x.a == y.a && x.b > y.b) || (equal_keys && x.c < y.c), x, y);
}

uint4 index_in(State state) {
    return state.c ^ rank_flip;
}
#endif
#endif

#elif COMBINE == COMBINE_EXPONENTIALS

// The maximum, and the sum of exp(x - maximum). NaN makes the sum NaN but does not change the maximum.
State no_items() {
    return state_of(0xff800000, 0, 0);
}

float4 exponential_or_nan(float4 x) {
    return unless_nan(x, exp_exactly(x));
}

// exp(x) for x <= 0, and NaN for NaN, without the special cases of exp_exactly. Results below 2^-126 are 0.
float4 exponential_below_one(float4 x) {
#if defined(HALF) && HALF == HALF_BY_DEVICE
    // FLOAT16 ends at 2^-11. Direct3D allows exp2 an error of 2^-21, and Vulkan 2^-24 * (3 + 2 * |x|).
    return exp2(x * 1.44269504);
#else
    // Adding this rounds to an integer, which is then in the last bits.
    const float rounder = 12582912.0;
    precise const float4 moved = x * 1.44269504 + rounder;
    // Prevents compilers from cancelling the addition and the subtraction.
    const float4 n = asfloat(asuint(moved) | zero_bits) - rounder;
    const float4 r = x - n * LN2_HIGH - n * LN2_LOW;
#ifdef HALF
    // The next term is below 2^-23, and FLOAT16 ends at 2^-11.
    const float4 series = 0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720))));
#else
    const float4 series =
        0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040)))));
#endif
    const float4 power = (1 + (r + r * r * series)) * asfloat((asuint(moved) + 127) << 23);
    // Numbers from ln(2^-126) down to -infinity, compared by bits, because NaN must not be included.
    const uint first = 0xc2aeac51;
    const uint minus_infinity = 0xff800000;
    return asuint(x) - first <= minus_infinity - first ? 0 : power;
#endif
}

// The larger number. The second one may be NaN, which is ignored.
float4 larger(float4 x, float4 y) {
    return y > x ? y : x;
}

float4 largest_lane(float4 x) {
#if VECTOR == VECTOR_ITEMS || VECTOR == VECTOR_SPREAD
    const float2 half_most = x.zw > x.xy ? x.zw : x.xy;
    return half_most.y > half_most.x ? half_most.y : half_most.x;
#else
    return x;
#endif
}

float4 sum_of_lanes(float4 x) {
#if VECTOR == VECTOR_ITEMS || VECTOR == VECTOR_SPREAD
    return (x.x + x.y) + (x.z + x.w);
#else
    return x;
#endif
}

// What is subtracted before taking exponentials: 0 for an infinity, which cannot be subtracted.
float4 base_of(float4 most) {
    return is_infinite(most) ? 0 : most;
}

// Adds four more numbers, some of which may be -infinity or NaN.
State with_four(State state, float4 x, float4 y, float4 z, float4 w) {
    const float4 before = asfloat(state.a);
    const float4 most = larger(larger(larger(larger(before, x), y), z), w);
    const float4 base = base_of(most);
    float4 sum = asfloat(state.b);
    [branch] if (any(state.a != asuint(most))) {
        sum *= exp_exactly(before - base);
    }
    sum += (exponential_or_nan(x - base) + exponential_or_nan(y - base)) +
           (exponential_or_nan(z - base) + exponential_or_nan(w - base));
    return state_of(asuint(most), asuint(sum), 0);
}

float4 element_or_none(Item item, bool exists) {
    return exists ? real_from(item.low, input_kind) : -infinity();
}

State combined(State x, State y) {
    const bool4 first = order_of(asfloat(x.a)) >= order_of(asfloat(y.a));
    const State more = chosen(first, x, y);
    const State less = chosen(first, y, x);
    // The distance between equal infinities is 0.
    const float4 distance = more.a == less.a ? 0 : asfloat(less.a) - asfloat(more.a);
    return state_of(more.a, asuint(asfloat(more.b) + asfloat(less.b) * exp_exactly(distance)), 0);
}

float4 real_result(State state) {
    return asfloat(state.a) + log_exactly(asfloat(state.b));
}

#elif COMBINE == COMBINE_RANGE

// The order (see order_of) of the minimum and the maximum of the elements and 0. NaN is ignored.
State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    const float4 x = real_from(item.low, input_kind);
    const uint4 order = uint4(is_nan(x) ? 0 : order_of(x));
    return state_of(order, order, 0);
}

State combined(State x, State y) {
    return state_of(uint4(min(int4(x.a), int4(y.a))), uint4(max(int4(x.b), int4(y.b))), 0);
}

#elif COMBINE == COMBINE_DEVIATIONS

State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    const float4 distance = real_from(item.low, input_kind) - mean;
    return state_of(asuint(distance), asuint(distance * distance), 0);
}

State combined(State x, State y) {
    return state_of(asuint(asfloat(x.a) + asfloat(y.a)), asuint(asfloat(x.b) + asfloat(y.b)), 0);
}

#elif COMBINE == COMBINE_GRADIENTS

State no_items() {
    return state_of(0, 0, 0);
}

State state_of_item(Item item, uint4 index, float4 mean) {
    const float4 gradient = real_from(item.second, input_kind);
    return state_of(asuint(gradient), asuint(gradient * (real_from(item.low, input_kind) - mean)), 0);
}

State combined(State x, State y) {
    return state_of(asuint(asfloat(x.a) + asfloat(y.a)), asuint(asfloat(x.b) + asfloat(y.b)), 0);
}

#endif

// Merges the lanes, which belong to one line, and returns the result in all four.
State collapsed(State state) {
    const State half = combined(state_of(state.a.xyxy, state.b.xyxy, state.c.xyxy),
                                state_of(state.a.zwzw, state.b.zwzw, state.c.zwzw));
    return combined(state_of(half.a.xxxx, half.b.xxxx, half.c.xxxx), state_of(half.a.yyyy, half.b.yyyy, half.c.yyyy));
}

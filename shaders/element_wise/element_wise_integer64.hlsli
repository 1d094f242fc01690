// Element-wise operators on 64-bit integers.

#include "shaders/common/int64.hlsli"

#define Number Int64
#define BOUND(n) int64_of(ATTRIBUTE(2 * (n)), ATTRIBUTE(2 * (n) + 1))

Int64 number_from(Bits bits, uint4 operand) {
    return int64_of(bits.low, bits.high);
}

Bits bits_from(Int64 number, uint4 operand) {
    Bits bits;
    bits.low = number.low;
    bits.high = number.high;
    return bits;
}

// Operators on 64-bit types have no ScaleBias.
Int64 scaled(Int64 x, uint4 operand) {
    return x;
}

bool4 is_negative(Int64 x) {
#if CLASS == CLASS_SIGNED_64
    return int4(x.high) < 0;
#else
    return false;
#endif
}

bool4 less(Int64 x, Int64 y) {
#if CLASS == CLASS_SIGNED_64
    return less_signed(x, y);
#else
    return less_unsigned(x, y);
#endif
}

Int64 truth(bool4 condition) {
    return small_int64(condition ? 1u : 0u);
}

Int64 all_ones() {
    return int64_of(0xffffffff, 0xffffffff);
}

// Counts from 64 on become 32 plus the count modulo 32.
uint4 shift_count(Int64 count) {
    return count.high == 0 && count.low < 64 ? count.low : 32 + (count.low & 31);
}

#if INPUTS == 1

Int64 compute(Int64 x) {
#if OPERATOR == ELEMENT_WISE_IDENTITY
    return x;
#elif OPERATOR == ELEMENT_WISE_ABS
    return negate_if(is_negative(x), x);
#elif OPERATOR == ELEMENT_WISE_NEGATE
    return negate(x);
#elif OPERATOR == ELEMENT_WISE_SIGN
    return choose(is_negative(x), all_ones(), truth(!is_zero(x)));
#elif OPERATOR == ELEMENT_WISE_CLIP || OPERATOR == ELEMENT_WISE_CLIP1
    const Int64 below = choose(less(BOUND(1), x), BOUND(1), x);
    return choose(less(below, BOUND(0)), BOUND(0), below);
#elif OPERATOR == ELEMENT_WISE_BIT_NOT
    return int64_of(~x.low, ~x.high);
#elif OPERATOR == ELEMENT_WISE_BIT_COUNT
    return small_int64(countbits(x.low) + countbits(x.high));
#endif
}

#elif INPUTS == 2

Int64 compute(Int64 x, Int64 y) {
#if OPERATOR == ELEMENT_WISE_ADD
    return add(x, y);
#elif OPERATOR == ELEMENT_WISE_SUBTRACT
    return subtract(x, y);
#elif OPERATOR == ELEMENT_WISE_MULTIPLY
    return multiply(x, y);
#elif OPERATOR == ELEMENT_WISE_MIN
    return choose(less(y, x), y, x);
#elif OPERATOR == ELEMENT_WISE_MAX
    return choose(less(x, y), y, x);
#elif OPERATOR == ELEMENT_WISE_LOGICAL_EQUALS
    return truth(equal(x, y));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_GREATER_THAN
    return truth(less(y, x));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL
    return truth(!less(x, y));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_LESS_THAN
    return truth(less(x, y));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL
    return truth(!less(y, x));
#elif OPERATOR == ELEMENT_WISE_BIT_AND
    return int64_of(x.low & y.low, x.high & y.high);
#elif OPERATOR == ELEMENT_WISE_BIT_OR
    return int64_of(x.low | y.low, x.high | y.high);
#elif OPERATOR == ELEMENT_WISE_BIT_XOR
    return int64_of(x.low ^ y.low, x.high ^ y.high);
#elif OPERATOR == ELEMENT_WISE_BIT_SHIFT_LEFT
    return shift_left(x, shift_count(y));
#elif OPERATOR == ELEMENT_WISE_BIT_SHIFT_RIGHT
    return shift_right(x, shift_count(y));
#elif OPERATOR == ELEMENT_WISE_CLIP_GRAD || OPERATOR == ELEMENT_WISE_CLIP_GRAD1
    return choose(less(BOUND(0), x) && less(x, BOUND(1)), y, small_int64(0));
#else
    const Division magnitudes = divide_unsigned(negate_if(is_negative(x), x), negate_if(is_negative(y), y));
    const Int64 quotient = negate_if(is_negative(x) != is_negative(y), magnitudes.quotient);
    const Int64 rest = negate_if(is_negative(x), magnitudes.rest);
#if OPERATOR == ELEMENT_WISE_DIVIDE
    return quotient;
#elif OPERATOR == ELEMENT_WISE_MODULUS_TRUNCATE && CLASS == CLASS_SIGNED_64
    return rest;
#elif OPERATOR == ELEMENT_WISE_MODULUS_TRUNCATE
    return choose(is_zero(y), all_ones(), rest);
#elif OPERATOR == ELEMENT_WISE_MODULUS_FLOOR
    const bool4 other_side = !is_zero(rest) && is_negative(rest) != is_negative(y);
    return choose(is_zero(y), quotient, choose(other_side, add(rest, y), rest));
#endif
#endif
}

#else

Int64 compute(Int64 x, Int64 y, Int64 z) {
    // ELEMENT_WISE_IF
    return choose(!is_zero(x), y, z);
}

#endif

// Element-wise operators on 32-bit integers.

#if CLASS == CLASS_SIGNED
#define Number int4
#else
#define Number uint4
#endif

#define BOUND(n) Number(ATTRIBUTE(2 * (n)), ATTRIBUTE(2 * (n)), ATTRIBUTE(2 * (n)), ATTRIBUTE(2 * (n)))

Number number_from(Bits bits, uint4 operand) {
    return Number(widened(bits.low, operand));
}

Bits bits_from(Number number, uint4 operand) {
    const uint mask = MASK_OF(operand.y);
    Bits bits;
    bits.low = uint4(number);
    if (saturates) {
#if CLASS == CLASS_SIGNED
        const int top = int(mask >> 1);
        bits.low = uint4(clamp(number, -1 - top, top));
#else
        bits.low = min(number, mask);
#endif
    }
    bits.low &= mask;
    return bits;
}

Number scaled(Number x, uint4 operand) {
    return has_scale_bias ? Number(integer_from(float4(x) * scale + bias, operand)) : x;
}

uint4 magnitude_of(Number x) {
#if CLASS == CLASS_SIGNED
    return uint4(x < 0 ? -x : x);
#else
    return x;
#endif
}

bool4 is_negative(Number x) {
#if CLASS == CLASS_SIGNED
    return x < 0;
#else
    return false;
#endif
}

// Division by 0 gives all ones.
uint4 quotient_of(uint4 x, uint4 y) {
    return y == 0 ? 0xffffffff : x / max(y, 1);
}

Number truncated_quotient(Number x, Number y) {
    const uint4 quotient = quotient_of(magnitude_of(x), magnitude_of(y));
    return Number(is_negative(x) != is_negative(y) ? 0 - quotient : quotient);
}

// The caller must handle division by 0.
Number truncated_remainder(Number x, Number y) {
    const uint4 rest = magnitude_of(x) % max(magnitude_of(y), 1);
    return Number(is_negative(x) ? 0 - rest : rest);
}

Number floored_remainder(Number x, Number y) {
    const Number rest = truncated_remainder(x, y);
    return rest != 0 && is_negative(rest) != is_negative(y) ? rest + y : rest;
}

// Repeated squaring, modulo 2^32. For negative exponents, only the powers of 1 and -1 are not 0.
Number power(Number x, uint4 exponent, bool4 negative_exponent) {
    uint4 factor = uint4(x);
    uint4 rest = negative_exponent ? exponent & 1 : exponent;
    uint4 result = 1;
    [loop] for (uint bit = 0; bit < 32; ++bit) {
        result *= (rest & 1) != 0 ? factor : 1;
        factor *= factor;
        rest >>= 1;
    }
    const bool4 is_unit = x == 1 || (is_negative(x) && magnitude_of(x) == 1);
    return Number(negative_exponent && !is_unit ? 0 : result);
}

#if INPUTS == 1

Number compute(Number x) {
#if OPERATOR == ELEMENT_WISE_IDENTITY || OPERATOR == ACTIVATION_IDENTITY || OPERATOR == CAST
    return x;
#elif OPERATOR == ELEMENT_WISE_ABS
    return Number(magnitude_of(x));
#elif OPERATOR == ELEMENT_WISE_NEGATE
    return -x;
#elif OPERATOR == ELEMENT_WISE_SIGN
    return is_negative(x) ? Number(-1, -1, -1, -1) : x == 0 ? 0 : 1;
#elif OPERATOR == ELEMENT_WISE_CLIP || OPERATOR == ELEMENT_WISE_CLIP1
    return max(BOUND(0), min(x, BOUND(1)));
#elif OPERATOR == ELEMENT_WISE_THRESHOLD
    return max(x, BOUND(0));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_NOT
    return x == 0 ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_BIT_NOT
    return ~x;
#elif OPERATOR == ELEMENT_WISE_BIT_COUNT
    return countbits(x);
#elif OPERATOR == ACTIVATION_RELU
    return max(x, 0);
#endif
}

#elif INPUTS == 2

Number compute(Number x, Number y) {
#if OPERATOR == ELEMENT_WISE_ADD
    return x + y;
#elif OPERATOR == ELEMENT_WISE_SUBTRACT
    return x - y;
#elif OPERATOR == ELEMENT_WISE_MULTIPLY
    return x * y;
#elif OPERATOR == ELEMENT_WISE_DIVIDE
    return truncated_quotient(x, y);
#elif OPERATOR == ELEMENT_WISE_MODULUS_TRUNCATE
#if CLASS == CLASS_SIGNED
    return y == 0 ? x : truncated_remainder(x, y);
#else
    return y == 0 ? 0xffffffff : truncated_remainder(x, y);
#endif
#elif OPERATOR == ELEMENT_WISE_MODULUS_FLOOR
    // Modulo 0 gives the same as division by 0.
    return y == 0 ? truncated_quotient(x, y) : floored_remainder(x, y);
#elif OPERATOR == ELEMENT_WISE_MEAN
    const Number sum = x + y;
    return is_negative(sum) ? (sum + 1) >> 1 : sum >> 1;
#elif OPERATOR == ELEMENT_WISE_DIFFERENCE_SQUARE
    return (x - y) * (x - y);
#elif OPERATOR == ELEMENT_WISE_MIN
    return min(x, y);
#elif OPERATOR == ELEMENT_WISE_MAX
    return max(x, y);
#elif OPERATOR == ELEMENT_WISE_POW
    const bool4 negative = operands[1].x == KIND_SIGNED && int4(y) < 0;
    return power(x, uint4(y), negative);
#elif OPERATOR == ELEMENT_WISE_LOGICAL_AND
    return x != 0 && y != 0 ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_LOGICAL_OR
    return x != 0 || y != 0 ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_LOGICAL_XOR
    return (x != 0) != (y != 0) ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_LOGICAL_EQUALS
    return x == y ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_LOGICAL_GREATER_THAN
    return x > y ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL
    return x >= y ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_LOGICAL_LESS_THAN
    return x < y ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL
    return x <= y ? 1 : 0;
#elif OPERATOR == ELEMENT_WISE_BIT_AND
    return x & y;
#elif OPERATOR == ELEMENT_WISE_BIT_OR
    return x | y;
#elif OPERATOR == ELEMENT_WISE_BIT_XOR
    return x ^ y;
#elif OPERATOR == ELEMENT_WISE_BIT_SHIFT_LEFT
    // Shift counts are taken modulo 32 for all types.
    return x << (y & 31);
#elif OPERATOR == ELEMENT_WISE_BIT_SHIFT_RIGHT
    return x >> (y & 31);
#elif OPERATOR == ACTIVATION_PARAMETERIZED_RELU
    return x >= 0 ? x : x * y;
#elif OPERATOR == ACTIVATION_RELU_GRAD
    return x > 0 ? y : 0;
#elif OPERATOR == ELEMENT_WISE_CLIP_GRAD || OPERATOR == ELEMENT_WISE_CLIP_GRAD1
    return x > BOUND(0) && x < BOUND(1) ? y : 0;
#endif
}

#else

Number compute(Number x, Number y, Number z) {
    // ELEMENT_WISE_IF
    return x != 0 ? y : z;
}

#endif

// CAST from or to a 64-bit type. All floating-point numbers are converted to FLOAT64 in between.

#include "shaders/common/int64.hlsli"

// Rounding modes for numbers with too many bits. TO_ODD sets the last bit if anything is cut off, which makes a second
// rounding to nearest correct.
#define TO_NEAREST 0
#define TO_ODD 1

// x / 2^count, for count >= 0.
Int64 rounded_shift(Int64 x, uint4 count, uint rounding) {
    const uint4 bounded = min(count, 63);
    const Int64 kept = shift_right(x, bounded);
    const Int64 back = shift_left(kept, bounded);
    const Int64 cut = choose(count > 63, x, subtract(x, back));
    const Int64 result = choose(count > 63, small_int64(0), kept);
    if (rounding == TO_ODD) {
        return int64_of(result.low | (is_zero(cut) ? 0u : 1u), result.high);
    }
    const Int64 half_unit = shift_left(small_int64(1), max(bounded, 1) - 1);
    const bool4 up = count > 0 && count < 64 &&
                     (less_unsigned(half_unit, cut) || (equal(half_unit, cut) && (kept.low & 1) != 0));
    return add(result, small_int64(up ? 1u : 0u));
}

// Converts an unsigned integer to FLOAT64.
Int64 double_from(Int64 x, uint rounding) {
    const uint4 top = highest_bit(x);
    const Int64 wide = rounded_shift(x, top > 52 ? top - 52 : 0, rounding);
    const Int64 narrow = shift_left(x, top > 52 ? 0 : 52 - top);
    // The hidden bit of the significand, or a carry from rounding, increments the exponent.
    Int64 result = choose(top > 52, wide, narrow);
    result.high += (1022 + top) << 20;
    return choose(is_zero(x), x, result);
}

// The conversion is exact.
Int64 double_from(float4 x) {
    const uint4 bits = asuint(x);
    const uint4 magnitude = bits & 0x7fffffff;
    const bool4 special = magnitude >= 0x7f800000;
    Int64 result = int64_of(magnitude << 29, (magnitude >> 3) + (special ? 0x7ffu - 0xff << 20 : (1023u - 127) << 20));
    // The significand of a subnormal counts units of 2^-149.
    const Int64 subnormal = double_from(small_int64(magnitude), TO_NEAREST);
    const Int64 small = int64_of(subnormal.low, subnormal.high - (149u << 20));
    result = choose(magnitude < 0x800000, choose(magnitude == 0, small_int64(0), small), result);
    return int64_of(result.low, result.high | bits & 0x80000000);
}

uint4 exponent_of(Int64 x) {
    return x.high >> 20 & 0x7ff;
}

bool4 is_nan(Int64 x) {
    const uint4 magnitude = x.high & 0x7fffffff;
    return magnitude > 0x7ff00000 || (magnitude == 0x7ff00000 && x.low != 0);
}

Int64 significand_of(Int64 x) {
    return int64_of(x.low, x.high & 0xfffff | (exponent_of(x) == 0 ? 0u : 0x100000u));
}

// Converts to the bits of FP32.
uint4 float_bits_from(Int64 x, uint rounding) {
    const int4 exponent = int4(exponent_of(x)) - 1023 + 127;
    // Results with an exponent below 1 are subnormal, so more bits are cut off.
    const uint4 cut = uint4(29 + (exponent < 1 ? 1 - exponent : 0));
    const Int64 significand = rounded_shift(significand_of(x), cut, rounding);
    const uint4 finite = significand.low + (uint4(max(exponent, 1) - 1) << 23);
    const uint4 overflow = rounding == TO_ODD ? 0x7f7fffff : 0x7f800000;
    const uint4 nan = 0x7fc00000 | x.high << 3 & 0x3fffff | x.low >> 29;
    const bool4 infinite = exponent_of(x) == 0x7ff;
    const uint4 magnitude = is_nan(x) ? nan : infinite ? 0x7f800000 : exponent > 254 ? overflow : min(finite, overflow);
    return magnitude | x.high & 0x80000000;
}

// Truncates and clamps to 64 bits; NaN becomes 0.
Int64 integer_from_double(Int64 x, bool is_signed) {
    const int4 exponent = int4(exponent_of(x)) - 1023;
    const Int64 significand = significand_of(x);
    const Int64 magnitude = choose(exponent < 0, small_int64(0),
                                   choose(exponent > 52, shift_left(significand, uint4(clamp(exponent - 52, 0, 11))),
                                          shift_right(significand, uint4(clamp(52 - exponent, 0, 63)))));
    const bool4 negative = int4(x.high) < 0;
    Int64 result;
    if (is_signed) {
        const Int64 limit = choose(negative, int64_of(0, 0x80000000), int64_of(0xffffffff, 0x7fffffff));
        result = choose(exponent > 62, limit, negate_if(negative, magnitude));
    } else {
        const Int64 positive = choose(exponent > 63, int64_of(0xffffffff, 0xffffffff), magnitude);
        result = choose(negative, small_int64(0), positive);
    }
    return choose(is_nan(x), small_int64(0), result);
}

bool is_real(uint4 operand) {
    return operand.x >= KIND_FLOAT16;
}

Int64 double_of(Bits bits, uint4 operand) {
    if (operand.x == KIND_FLOAT64) {
        return int64_of(bits.low, bits.high);
    }
    if (operand.x == KIND_FLOAT32) {
        return double_from(asfloat(bits.low));
    }
    return double_from(float_from_half(bits.low));
}

Int64 integer_of(Bits bits, uint4 operand) {
    if (operand.y == PACKING_64) {
        return int64_of(bits.low, bits.high);
    }
    const uint4 low = widened(bits.low, operand);
    return int64_of(low, operand.x == KIND_SIGNED && int4(low) < 0 ? 0xffffffffu : 0u);
}

// Converts a FLOAT64 to the operand's type.
Bits real_bits(Int64 x, uint4 operand) {
    Bits bits;
    bits.low = x.low;
    bits.high = x.high;
    if (operand.x == KIND_FLOAT32) {
        bits.low = float_bits_from(x, TO_NEAREST);
    }
    if (operand.x == KIND_FLOAT16) {
        bits.low = half_from_float(asfloat(float_bits_from(x, TO_ODD)));
    }
    return bits;
}

// Clamps an integer to the operand's type.
Bits integer_bits(Int64 x, uint4 operand) {
    Bits bits;
    bits.low = x.low;
    bits.high = x.high;
    if (operand.y != PACKING_64) {
        const uint mask = MASK_OF(operand.y);
        if (operand.x == KIND_SIGNED) {
            const Int64 top = small_int64(mask >> 1);
            const Int64 bottom = int64_of(~(mask >> 1), 0xffffffff);
            const Int64 below = choose(less_signed(top, x), top, x);
            bits.low = choose(less_signed(below, bottom), bottom, below).low & mask;
        } else {
            bits.low = x.high != 0 ? mask : min(x.low, mask);
        }
    }
    return bits;
}

Bits cast(Bits bits, uint4 from, uint4 to) {
    const bool to_signed = to.x == KIND_SIGNED;
    if (is_real(from) && is_real(to)) {
        return real_bits(double_of(bits, from), to);
    }
    if (is_real(from)) {
        return integer_bits(integer_from_double(double_of(bits, from), to_signed), to);
    }
    const Int64 integer = integer_of(bits, from);
    if (!is_real(to)) {
        return integer_bits(integer, to);
    }
    const bool4 negative = from.x == KIND_SIGNED && int4(integer.high) < 0;
    Int64 number = double_from(negate_if(negative, integer), to.x == KIND_FLOAT64 ? TO_NEAREST : TO_ODD);
    number.high |= negative ? 0x80000000u : 0u;
    return real_bits(number, to);
}

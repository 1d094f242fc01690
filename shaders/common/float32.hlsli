// Correctly rounded FP32 arithmetic, where shader instructions promise less.

bool is_nan(float value) {
    // Tested by bits, because a compiler may assume that numbers are not NaN.
    return (asuint(value) & 0x7fffffff) > 0x7f800000;
}

bool is_infinite(float value) {
    return (asuint(value) & 0x7fffffff) == 0x7f800000;
}

bool4 is_nan(float4 value) {
    return (asuint(value) & 0x7fffffff) > 0x7f800000;
}

bool4 is_infinite(float4 value) {
    return (asuint(value) & 0x7fffffff) == 0x7f800000;
}

// 1 / x except for the last bits, for x near 1. It uses no division, because compilers may combine divisions: NVIDIA's
// (580) was seen to drop the correction of a quotient by a second division. The bits of a number, read as an integer,
// are nearly its logarithm, so the first estimate is within 13 %. Each step squares the error (Newton).
float4 estimated_reciprocal(float4 x) {
    float4 reciprocal = asfloat(0x7ef311c7u - asuint(x));
    reciprocal = reciprocal + reciprocal * (1 - x * reciprocal);
    reciprocal = reciprocal + reciprocal * (1 - x * reciprocal);
    reciprocal = reciprocal + reciprocal * (1 - x * reciprocal);
    return reciprocal;
}

// a / b, a few ULPs off. Drivers may return 0 for a quotient by more than 2^126, and NaN if it is infinite, so large
// divisors are scaled first.
float4 quotient_of(float4 a, float4 b) {
    const float4 factor = (asuint(b) & 0x7fffffff) >= 0x7d800000 ? 1.0 / 256 : 1.0;
    precise const float4 divisor = b * factor;
    precise const float4 quotient = a * factor / divisor;
    return quotient;
}

float quotient_of(float a, float b) {
    const float factor = (asuint(b) & 0x7fffffff) >= 0x7d800000 ? 1.0 / 256 : 1.0;
    precise const float divisor = b * factor;
    precise const float quotient = a * factor / divisor;
    return quotient;
}

// a / b, correctly rounded to nearest; the division of shaders may be a few ULPs off. If operands or quotient are far
// from 1, the result is that of the division.
float divide_exactly(float a, float b) {
    const float quotient = quotient_of(a, b);
    const uint quotient_exponent = asuint(quotient) >> 23 & 0xff;
    const uint divisor_exponent = asuint(b) >> 23 & 0xff;
    precise float result = quotient;
    // With exponents between 2^-60 and 2^60, the products of 12-bit halves are exact (Dekker 1971).
    if (abs(int(quotient_exponent) - 127) <= 60 && abs(int(divisor_exponent) - 127) <= 60) {
        precise const float quotient_high = asfloat(asuint(quotient) & 0xfffff000);
        precise const float quotient_low = quotient - quotient_high;
        precise const float divisor_high = asfloat(asuint(b) & 0xfffff000);
        precise const float divisor_low = b - divisor_high;
        precise float remainder = a - quotient_high * divisor_high;
        remainder = remainder - quotient_high * divisor_low;
        remainder = remainder - quotient_low * divisor_high;
        remainder = remainder - quotient_low * divisor_low;
        result = quotient + remainder * estimated_reciprocal(b).x;
    }
    return result;
}

// The upper 12 bits. Products of such halves are exact (Dekker 1971).
float4 high_half(float4 x) {
    return asfloat(asuint(x) & 0xfffff000);
}

// a - b * c, for b * c near a, and no intermediate number far from 1.
float4 remainder_of(float4 a, float4 b, float4 c) {
    precise const float4 b_high = high_half(b);
    precise const float4 b_low = b - b_high;
    precise const float4 c_high = high_half(c);
    precise const float4 c_low = c - c_high;
    precise float4 remainder = a - b_high * c_high;
    remainder = remainder - b_high * c_low;
    remainder = remainder - b_low * c_high;
    remainder = remainder - b_low * c_low;
    return remainder;
}

bool4 is_moderate(float4 x) {
    return abs(int4(asuint(x) >> 23 & 0xff) - 127) <= 60;
}

// x * 2^n for n from -252 to 254.
float4 times_power_of_two(float4 x, int4 n) {
    // In two steps, because 2^n itself may be out of range.
    const int4 first = n >> 1;
    return x * asfloat(uint4(first + 127) << 23) * asfloat(uint4(n - first + 127) << 23);
}

bool4 is_normal(float4 x) {
    const uint4 exponent = asuint(x) >> 23 & 0xff;
    return exponent != 0 && exponent != 0xff;
}

// a / b, correctly rounded. `quotient` is that except for its last bits; all numbers must be near 1.
float4 corrected_quotient(float4 quotient, float4 a, float4 b) {
    precise const float4 correction = remainder_of(a, quotient, b) * estimated_reciprocal(b);
    precise const float4 corrected = quotient + correction;
    return corrected;
}

// Like divide_exactly for scalars, for all normal operands: if one is far from 1, significands are divided.
float4 divide_exactly(float4 a, float4 b) {
    const float4 quotient = quotient_of(a, b);
    const bool4 moderate = is_moderate(quotient) && is_moderate(b);
    float4 result = moderate ? corrected_quotient(quotient, a, b) : quotient;
    const bool4 scaled = !moderate && is_normal(a) && is_normal(b);
    [branch] if (any(scaled)) {
        const float4 significand_a = asfloat((asuint(a) & 0x807fffff) | 0x3f800000);
        const float4 significand_b = asfloat((asuint(b) & 0x807fffff) | 0x3f800000);
        const float4 significands = corrected_quotient(significand_a / significand_b, significand_a, significand_b);
        const int4 exponent = int4(asuint(a) >> 23 & 0xff) - int4(asuint(b) >> 23 & 0xff);
        result = scaled ? times_power_of_two(significands, exponent) : result;
    }
    return result;
}

float4 sqrt_exactly(float4 x) {
    precise const float4 root = sqrt(x);
    precise const float4 corrected = root + remainder_of(x, root, root) / (2 * root);
    return is_moderate(root) ? corrected : root;
}

// Converts a 64-bit integer, rounded to nearest even. Its magnitude must be below 2^62.
float float_from_int64(int high, uint low) {
    const bool negative = high < 0;
    const uint magnitude_low = negative ? 0 - low : low;
    const uint magnitude_high = negative ? ~uint(high) + (low == 0 ? 1 : 0) : uint(high);
    float magnitude = float(magnitude_low);
    if (magnitude_high != 0) {
        // The top 32 bits. The last bit is set if any lower bit is.
        const uint shift = firstbithigh(magnitude_high) + 1;
        const uint top = magnitude_high << (32 - shift) | magnitude_low >> shift |
                         (magnitude_low << (32 - shift) != 0 ? 1 : 0);
        magnitude = float(top) * asfloat((127 + shift) << 23);
    }
    return negative ? -magnitude : magnitude;
}

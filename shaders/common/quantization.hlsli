// Quotients rounded to the nearest integer, for quantising to integers of at most 8 bits: large quotients only need to
// be large enough for clamping. The parameters must have zero_bits.

// The FP32 quotient x / y, rounded to the nearest integer, ties to even, plus the zero point; `nan` for NaN.
float4 quantized_exactly(float4 x, float4 y, float4 zero_point, float nan) {
    // Drivers may return 0 for a quotient by more than 2^126, and take the rest for 0 if it is below 2^-126.
    const uint4 magnitude = asuint(y) & 0x7fffffff;
    const float4 factor = magnitude >= 0x7d800000 ? 1.0 / 256 : magnitude < 0x1f800000 ? 18446744073709551616.0 : 1.0;
    const float4 divisor = y * factor;
    const float4 dividend = x * factor;
    const float4 quotient = dividend / divisor;
    // The side of the tie on which x lies is computed exactly: the tie has so few bits that its products with the
    // halves of y are exact.
    const float4 tie = floor(quotient) + 0.5;
    precise const float4 divisor_high = high_half(divisor);
    precise const float4 divisor_low = divisor - divisor_high;
    precise const float4 rest = (dividend - tie * divisor_high) - tie * divisor_low;
    // Half an ULP of the tie. If x is that close, the FP32 quotient is the tie.
    const float4 half_unit = asfloat(asuint(tie) & 0x7f800000) * (1.0 / 16777216);
    const float4 side = (asint(rest) < 0) == (asint(divisor) < 0) ? 0.5 : -0.5;
    const float4 whole = abs(rest) <= abs(divisor) * half_unit ? round(tie) : tie + side;
    const float most = 512;
    const float4 result = abs(quotient) < most && !is_infinite(y) ? whole : quotient;
    return is_nan(quotient) ? nan : result + zero_point;
}

// FP32 numbers from 2^23 to 2^24 are integers, so adding this rounds to nearest, ties to even. Numbers above 2^22 are
// not rounded to single integers.
#define ROUNDER 12582912.0

// True if the reciprocal of y is accurate to a few ULPs: above 2^126, drivers may return 0.
bool has_reciprocal(float4 y) {
    return all((asuint(y) & 0x7fffffff) < 0x7e800000);
}

// The same by a reciprocal, which is sufficient for most elements although it may be a few ULPs off.
float4 quantized_by_reciprocal(float4 x, float4 y, float4 reciprocal, bool is_reciprocal, float4 zero_point,
                               float nan) {
    const float4 quotient = x * reciprocal;
    // Not by round, which is slow. zero_bits prevents compilers from cancelling the addition and the subtraction, which
    // they do despite `precise`.
    precise const float4 moved = quotient + ROUNDER;
    const float4 whole = asfloat(asuint(moved) | zero_bits) - ROUNDER;
    // Upper bound for the distance of the nearest integer from the true quotient: from 0.5 on, another integer may be
    // nearer. From 2^19 on the bound is always at least that. Compared by bits, because NaN must not pass.
    const uint4 distance = asuint(abs(quotient) * (1.0 / 1048576) + abs(quotient - whole)) & 0x7fffffff;
    const uint furthest = max(max(distance.x, distance.y), max(distance.z, distance.w));
    float4 result = whole + zero_point;
    [branch] if (furthest >= asuint(0.5) || !is_reciprocal) {
        result = quantized_exactly(x, y, zero_point, nan);
    }
    return result;
}

float4 quantized(float4 x, float4 y, float4 zero_point, float nan) {
    return quantized_by_reciprocal(x, y, 1 / y, has_reciprocal(y), zero_point, nan);
}

// Lower than every integer type's range.
#define LOWEST -1e30

// Quotients to the nearest integer, for operators that quantise. For integers of 8 bits and fewer: large quotients are
// left to saturation. Parameters have zero_bits.

// x / y as FP32 has it, to the nearest integer, ties to even, plus the zero point, and NaN as `nan`.
float4 quantized_exactly(float4 x, float4 y, float4 zero_point, float nan) {
    // Drivers may take a quotient by more than 2^126 for 0.
    const float4 factor = (asuint(y) & 0x7fffffff) >= 0x7d800000 ? 1.0 / 256 : 1.0;
    const float4 divisor = y * factor;
    const float4 dividend = x * factor;
    const float4 quotient = dividend / divisor;
    // On which side of the tie x lies is known exactly: the tie has so few bits that its products with halves of y are
    // exact.
    const float4 tie = floor(quotient) + 0.5;
    precise const float4 divisor_high = high_half(divisor);
    precise const float4 divisor_low = divisor - divisor_high;
    precise const float4 rest = (dividend - tie * divisor_high) - tie * divisor_low;
    // Half of the tie's last place: so near, the quotient is the tie.
    const float4 half_place = asfloat(asuint(tie) & 0x7f800000) * (1.0 / 16777216);
    const float4 side = (asint(rest) < 0) == (asint(divisor) < 0) ? 0.5 : -0.5;
    const float4 whole = abs(rest) <= abs(divisor) * half_place ? round(tie) : tie + side;
    const float most = 512;
    const float4 result = abs(quotient) < most && !is_infinite(y) ? whole : quotient;
    return is_nan(quotient) ? nan : result + zero_point;
}

// From 2^23 to 2^24 there are whole numbers only: adding this rounds to nearest, ties to even. Numbers beyond 2^22 are
// not rounded to one by one.
#define ROUNDER 12582912.0

// Whether a reciprocal of y is within some units in the last place: of what is beyond 2^126 drivers may take it for 0.
bool has_reciprocal(float4 y) {
    return all((asuint(y) & 0x7fffffff) < 0x7e800000);
}

// The same. Elements of which a reciprocal that is some units in the last place off says enough are most of them.
float4 quantized_by_reciprocal(float4 x, float4 y, float4 reciprocal, bool is_reciprocal, float4 zero_point,
                               float nan) {
    const float4 quotient = x * reciprocal;
    // Not by round, which is slow. Compilers would find that what is added is subtracted again, precise or not.
    precise const float4 moved = quotient + ROUNDER;
    const float4 whole = asfloat(asuint(moved) | zero_bits) - ROUNDER;
    // How far the nearest integer may be from the true quotient: at 0.5 another one may be nearer. From 2^19 on this is
    // never less. By their bits, as NaN is not less than anything.
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

// Less than any integer type holds.
#define LOWEST -1e30

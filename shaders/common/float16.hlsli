// Conversion between binary16 and FP32 in integer arithmetic, because the shader instructions may flush subnormals and
// round in any direction.

// The numbers are in the low 16 bits.
float4 float_from_half(uint4 bits) {
    const uint4 exponent = bits & 0x7c00;
    const uint4 moved = (bits & 0x7fff) << 13;
    const float4 normal = asfloat(moved + (112u << 23));
    const float4 subnormal = float4(bits & 0x3ff) * (1.0 / 16777216);
    const float4 special = asfloat(moved | 0x7f800000);
    const float4 magnitude = exponent == 0 ? subnormal : exponent == 0x7c00 ? special : normal;
    return asfloat(asuint(magnitude) | (bits & 0x8000) << 16);
}

// The number of an element with these bits: FP32 if elements are not packed, otherwise binary16.
float real_of(uint bits, uint packing_of_elements) {
    return packing_of_elements == 0 ? asfloat(bits) : float_from_half(bits).x;
}

// Rounds to nearest, ties to even. Numbers from 65520 on become infinity.
uint4 half_from_float(float4 value) {
    const uint4 bits = asuint(value);
    const uint4 magnitude = bits & 0x7fffffff;
    const uint4 normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) / 8192 - (112u << 10);
    // Below 2^-14 one ULP is 2^-24, as for FP32 numbers near 1/2, so the addition rounds correctly.
    const uint4 subnormal = asuint(asfloat(magnitude) + 0.5) - 0x3f000000;
    const uint4 nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    const uint4 large = magnitude > 0x7f800000 ? nan : 0x7c00;
    return (bits >> 16 & 0x8000) |
           (magnitude >= 0x477ff000 ? large : magnitude < 0x38800000 ? subnormal : normal);
}

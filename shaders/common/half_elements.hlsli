// Conversions of FLOAT16 elements in the way that HALF selects. Both ways keep subnormals and round to nearest: the
// engine selects the device's instructions only after it has tested them.

#include "shaders/common/device_variants.hlsli"
#include "shaders/common/float16.hlsli"

// The numbers in the low 16 bits; the upper bits are ignored.
float4 numbers_of_halves(uint4 bits) {
#if HALF == HALF_BY_DEVICE
    return f16tof32(bits);
#else
    return float_from_half(bits);
#endif
}

uint4 halves_of_numbers(float4 numbers) {
#if HALF == HALF_BY_DEVICE
    return f32tof16(numbers);
#else
    return half_from_float(numbers);
#endif
}

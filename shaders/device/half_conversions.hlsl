// Tests whether the device's own conversions between binary16 and FP32 equal those of float16.hlsli: for all 65,536
// numbers of 16 bits, and for FP32 numbers at and around the ties between neighbours. Each group writes how many of its
// threads found a difference.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/float16.hlsli"

RWStructuredBuffer<uint> differences : register(u0);

groupshared uint found;

bool is_half_nan(uint bits) {
    return (bits & 0x7fff) > 0x7c00;
}

bool converts_alike(float4 numbers) {
    return all((f32tof16(numbers) & 0xffff) == half_from_float(numbers));
}

// Tests a finite 16-bit number, the tie between it and the next one away from zero, and their neighbours.
bool rounds_alike(uint half) {
    const float4 ends = float_from_half(uint4(half, half + 1, half, half + 1));
    const uint largest = 0x7bff;
    const float beyond = (half & 0x8000) != 0 ? -65536.0 : 65536.0;
    const float next = (half & 0x7fff) == largest ? beyond : ends.y;
    const uint tie = asuint(0.5 * ends.x + 0.5 * next);
    const float4 around_tie = asfloat(uint4(tie, tie - 1, tie + 1, asuint(ends.x) + 1));
    return converts_alike(around_tie) && converts_alike(float4(ends.x, next, 1e6 * next, asfloat(asuint(next) - 1)));
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint half = linear_group(group_id) * GROUP_SIZE + thread;
    if (thread == 0) {
        found = 0;
    }
    GroupMemoryBarrierWithGroupSync();
    bool alike = true;
    if (!is_half_nan(half)) {
        alike = asuint(f16tof32(half)) == asuint(float_from_half(uint4(half, half, half, half)).x);
        if ((half & 0x7fff) < 0x7c00) {
            alike = alike && rounds_alike(half);
        } else {
            const float infinite = float_from_half(uint4(half, half, half, half)).x;
            alike = alike && converts_alike(float4(infinite, infinite, infinite, infinite));
        }
    } else {
        const uint converted = asuint(f16tof32(half));
        alike = (converted & 0x7fffffff) > 0x7f800000 && is_half_nan(f32tof16(asfloat(converted)) & 0xffff);
    }
    if (!alike) {
        InterlockedAdd(found, 1);
    }
    GroupMemoryBarrierWithGroupSync();
    if (thread == 0 && linear_group(group_id) < group_count) {
        differences[linear_group(group_id)] = found;
    }
}

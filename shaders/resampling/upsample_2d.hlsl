// UPSAMPLE_2D, linear: interpolates between four elements. Positions refer to the centres of elements.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/resampling/upsample_2d_parameters.hlsli"

RWStructuredBuffer<uint> source : register(u0);
RWStructuredBuffer<uint> target : register(u1);

// The input elements around an output position, and its distance from the first one. At the edges, both are the same.
struct Between {
    uint first;
    uint second;
    float distance;
};

Between between(uint position, uint factor, uint size) {
    // In halves of output elements, so that nothing is rounded.
    const int halves = int(2 * position + 1 - factor);
    const uint inside = uint(max(halves, 0));
    Between result;
    result.first = inside / (2 * factor);
    result.distance = float(inside - result.first * (2 * factor)) / float(2 * factor);
    result.second = result.first + 1;
    if (result.second >= size) {
        result.first = size - 1;
        result.second = size - 1;
        result.distance = 0;
    }
    return result;
}

float element_at(uint offset) {
    return real_of(LOAD_ELEMENT(source, packing, offset), packing);
}

float interpolated(float first, float second, float distance) {
    // If the distance is 0, the second element is ignored, even if it is infinite.
    return distance == 0 ? first : first * (1 - distance) + second * distance;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < element_count) {
        STRIDED_OFFSETS(offsets, 2, number, dimensions, dimension_count)
        const Between y = between(offsets[0].w, scale.x, scale.z);
        const Between x = between(offsets[1].x, scale.y, scale.w);
        const uint upper = offsets[0].y + y.first * stride.x;
        const uint lower = offsets[0].y + y.second * stride.x;
        const float above = interpolated(element_at(upper + x.first * stride.y),
                                         element_at(upper + x.second * stride.y), x.distance);
        const float below = interpolated(element_at(lower + x.first * stride.y),
                                         element_at(lower + x.second * stride.y), x.distance);
        const float value = interpolated(above, below, y.distance);
        STORE_ELEMENT(target, packing, offsets[0].z, packing == 0 ? asuint(value) : half_from_float(value).x)
    }
}

// A copy at the device's full speed, which measures its peak memory bandwidth.

#include "shaders/common/dispatch.hlsli"

RWStructuredBuffer<uint4> source : register(u0);
RWBuffer<uint4> target : register(u17);

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (linear_group(group_id) < group_count) {
        target[number] = source[number];
    }
}

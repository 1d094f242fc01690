// A copy, as fast as the device does it: what bytes per second are measured against.

#include "dispatch.hlsli"

#define GROUP_SIZE 256

RWStructuredBuffer<uint4> source : register(u0);
RWBuffer<uint4> target : register(u17);

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint place = linear_group(group_id) * GROUP_SIZE + thread;
    if (linear_group(group_id) < group_count) {
        target[place] = source[place];
    }
}

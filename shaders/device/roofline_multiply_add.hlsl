// Multiply-adds in registers at the device's full speed, which measure its peak throughput.

#include "shaders/common/dispatch.hlsli"
#include "shaders/device/roofline_multiply_add_parameters.hlsli"

RWStructuredBuffer<float> sums : register(u0);

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    // Enough independent sums to hide the latency of a multiply-add.
    float4 a = thread;
    float4 b = thread + 1;
    float4 c = thread + 2;
    float4 d = thread + 3;
    [loop] for (uint step = 0; step < steps; ++step) {
        a = a * factor + 1;
        b = b * factor + 1;
        c = c * factor + 1;
        d = d * factor + 1;
    }
    const float4 all = (a + b) + (c + d);
    if (linear_group(group_id) < group_count) {
        sums[linear_group(group_id) * GROUP_SIZE + thread] = (all.x + all.y) + (all.z + all.w);
    }
}

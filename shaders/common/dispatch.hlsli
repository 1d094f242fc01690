// The index of the current thread group. Dispatches with more groups than D3D12 allows in a row have several rows, and
// the last row may have surplus groups.
//
// In all shaders, loops that must not be unrolled are marked [loop]. vkd3d's compiler tries to unroll all others, which
// takes seconds instead of milliseconds.

#include "shaders/common/parameters.hlsli"

cbuffer DispatchShape : register(b1) {
    uint groups_per_row;
    uint group_count;
};

uint linear_group(uint3 group_id) {
    return group_id.y * groups_per_row + group_id.x;
}

// Which thread group this is. Dispatches of more groups than D3D12 allows in a row have several rows, the last of them
// maybe with groups too many.
//
// In all shaders: loops that must not be unrolled say [loop]. vkd3d's compiler tries to unroll any other, which takes
// it seconds where [loop] takes milliseconds.

cbuffer DispatchShape : register(b1) {
    uint groups_per_row;
    uint group_count;
};

uint linear_group(uint3 group_id) {
    return group_id.y * groups_per_row + group_id.x;
}

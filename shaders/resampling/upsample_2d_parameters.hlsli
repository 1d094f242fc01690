// What C++ and upsample_2d.hlsl share.

#ifndef UPSAMPLE_2D_PARAMETERS
#define UPSAMPLE_2D_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define UPSAMPLE_MOST_DIMENSIONS 8

PARAMETERS(Upsample2dParameters)
uint element_count;
uint dimension_count;
uint packing;     // 1: FLOAT16
uint unused;
uint4 scale;      // scale of height and width, and the input's height and width
uint4 stride;     // stride of height and width
// Size, strides in the input (for dimensions that are not scaled), in the output, and of the output's row. Second row:
// stride of the output's column.
uint4 dimensions[2 * UPSAMPLE_MOST_DIMENSIONS];
END_PARAMETERS

#endif

// The constant buffer of upsample_2d.hlsl. C++ and HLSL both include this, within a structure that has the types.

#define MOST_DIMENSIONS 8

uint element_count;
uint dimension_count;
uint packing;     // 1: FLOAT16
uint unused;
uint4 scale;      // height, width, and how many elements the input has of them
uint4 stride;     // height, width
// Size, strides in the input where it is the same as the output, in the output, and in its height. In a second row: in
// its width.
uint4 dimensions[2 * MOST_DIMENSIONS];

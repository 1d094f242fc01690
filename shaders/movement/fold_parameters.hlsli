// What C++ and fold.hlsl share.

#ifndef FOLD_PARAMETERS
#define FOLD_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define MOST_WINDOW_DIMENSIONS 6
#define FOLD_MOST_DIMENSIONS 8

PARAMETERS(FoldParameters)
uint element_count;
uint dimension_count;
uint window_dimension_count;
uint window_count;   // elements in a window
uint kind;
uint packing;
uint window_stride;  // stride between elements of a window
uint block_stride;
// Window size, dilation, stride, number of blocks. Second row: the padding at the start, and the stride of block
// indices.
uint4 windows[2 * MOST_WINDOW_DIMENSIONS];
// Size, strides in the input (for block and window element 0) and in the output, and the index of the window's
// dimension, or an unused index for other dimensions.
uint4 dimensions[FOLD_MOST_DIMENSIONS];
END_PARAMETERS

#endif

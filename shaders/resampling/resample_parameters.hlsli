// What C++ and resample.hlsl and resample_weighted.hlsl share.

#ifndef RESAMPLE_PARAMETERS
#define RESAMPLE_PARAMETERS

#include "shaders/common/parameters.hlsli"

// The macro TAKES: how resample.hlsl computes an element from its position.
#define TAKES_NEAREST 0
#define TAKES_TWO 2   // linear interpolation along up to two dimensions
#define TAKES_FOUR 4  // along up to four dimensions

// The macro WEIGHTS: what resample_weighted.hlsl sums.
#define WEIGHTS_FILTER 0    // elements, by a filter that is widened for downsampling
#define WEIGHTS_GRADIENT 1  // gradients of the outputs that the element contributed to, by its weight

// How positions are rounded to a neighbour.
#define NEAREST_HALF_UP 0
#define NEAREST_BELOW 1
#define NEAREST_ABOVE 2

#define MOST_SCALED 4
#define RESAMPLE_MOST_DIMENSIONS 4
// Rows of a dimension in a table: see `dimensions`.
#define ROWS 2

PARAMETERS(ResampleParameters)
uint element_count;
uint dimension_count;
uint kind;
uint packing;
uint nearest;
uint scaled_count;
uint interpolates;  // for gradients: 1 for linear interpolation
uint unused;
// For each scaled dimension: the forward input's size, the stride of what is read, and as FP32 bits the scale and the
// output offset. Second row: the input offset, the filter's slope, and the forward output's size.
uint4 scaled[2 * MOST_SCALED];
// Size, strides in the input (unless scaled) and in the output; then the stride of the position along scaled
// dimensions.
uint4 dimensions[ROWS * RESAMPLE_MOST_DIMENSIONS];
END_PARAMETERS

#endif

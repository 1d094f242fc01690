// What C++ and region.hlsl share.

#ifndef REGION_PARAMETERS
#define REGION_PARAMETERS

#include "shaders/common/parameters.hlsli"

// The macro MAKES: what region.hlsl computes.
#define MAKES_POOLED 0           // ROI_POOLING: the largest element of a bin of the region
#define MAKES_ALIGNED 1          // ROI_ALIGN: mean or maximum of interpolated samples
#define MAKES_CHOSEN 2           // the index of the largest sample
#define MAKES_GRADIENT 3         // the gradient of the input
#define MAKES_REGION_GRADIENT 4  // an output's contribution to the gradients of its region's coordinates

#define REGION_ROWS 2
#define REGION_DIMENSIONS 4

PARAMETERS(RegionParameters)
uint element_count;
uint dimension_count;
uint packing;
uint region_count;
uint takes_largest;   // 1: the largest sample. 0: the mean of samples
uint interpolates;
uint aligns_corners;
uint index_words;     // words of a batch index
float scale_x;
float scale_y;
float input_offset;
float output_offset;
float outside_value;
uint least_samples;   // the minimum number of samples along an axis
uint most_samples;
uint unused;
uint sign_mask;       // see key_of in window_states.hlsli
uint key_offset;
uint height;          // size of the input
uint width;
uint pooled_height;   // size of a region's output
uint pooled_width;
uint batches;
uint channels;
uint4 image_strides;   // batches, channels, height, width
uint4 gradient_strides;  // the same for the forward output; the first one is for regions
uint4 region_strides;    // regions, their coordinates, batch indices
// Size, stride in the output, and the stride of the coordinate along each of its four dimensions.
uint4 dimensions[REGION_ROWS * REGION_DIMENSIONS];
END_PARAMETERS

#endif

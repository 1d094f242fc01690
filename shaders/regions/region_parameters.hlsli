// Constants that C++ and the region shaders share.

// The macro MAKES: what region.hlsl computes.
#define MAKES_POOLED 0           // ROI_POOLING: the largest element of a bin of the region
#define MAKES_ALIGNED 1          // ROI_ALIGN: mean or maximum of interpolated samples
#define MAKES_CHOSEN 2           // the index of the largest sample
#define MAKES_GRADIENT 3         // the gradient of the input
#define MAKES_REGION_GRADIENT 4  // an output's contribution to the gradients of its region's coordinates

#define REGION_ROWS 2
#define REGION_DIMENSIONS 4

// What C++ and the shaders of regions of interest both know.

// What region.hlsl makes: the macro MAKES.
#define MAKES_POOLED 0           // ROI_POOLING: the largest elements of a part of the region
#define MAKES_ALIGNED 1          // ROI_ALIGN: the mean, or the largest, of samples between elements
#define MAKES_CHOSEN 2           // which sample was the largest
#define MAKES_GRADIENT 3         // of the picture
#define MAKES_REGION_GRADIENT 4  // what an output adds to the gradients of its region's coordinates

#define REGION_ROWS 2
#define REGION_DIMENSIONS 4

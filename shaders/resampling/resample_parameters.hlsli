// Constants that C++ and the resampling shaders share.

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
#define MOST_DIMENSIONS 4
// Rows of a dimension in a table: see resample_members.hlsli.
#define ROWS 2

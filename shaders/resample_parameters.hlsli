// What C++ and the shaders of resampling both know.

// How resample.hlsl finds an element from its place: the macro TAKES.
#define TAKES_NEAREST 0
#define TAKES_TWO 2   // interpolated between neighbours along up to two dimensions
#define TAKES_FOUR 4  // along up to four

// What resample_weighted.hlsl adds up: the macro WEIGHTS.
#define WEIGHTS_FILTER 0    // elements, by a filter that is stretched where it makes fewer of many
#define WEIGHTS_GRADIENT 1  // what the forward pass made of the element, by its weight in there

// To which neighbour places between them are brought.
#define NEAREST_HALF_UP 0
#define NEAREST_BELOW 1
#define NEAREST_ABOVE 2

#define MOST_SCALED 4
#define MOST_DIMENSIONS 4
// Rows of a dimension: see resample_members.hlsli.
#define ROWS 2

// The constant buffer of movement.hlsl. C++ and HLSL both include this, within a structure that has the types.

// What becomes of a coordinate that lies outside its bounds.
#define BOUNDS_CONSTANT 0    // there is nothing: the output has the pattern
#define BOUNDS_EDGE 1        // it stops at the first and the last element
#define BOUNDS_REFLECTION 2  // it turns round at the first and the last element
#define BOUNDS_SYMMETRIC 3   // it turns round behind the last and before the first element
#define BOUNDS_WRAP 4        // it begins anew

#define MOST_COORDINATES 8
#define MOST_DIMENSIONS 16

uint unit_count;
uint dimension_count;
uint source_start;
uint target_start;
uint coordinate_count;
uint has_source;       // 0: where nothing else is said there are zeros
uint band_begin;       // outputs of these numbers, as the walk of the dimensions gives them, have the pattern
uint band_size;
uint band_inverted;    // 1: the outputs of all other numbers have it
uint own_coordinates;  // 1: each coordinate has one dimension that moves along it
uint unused1;
uint unused2;
uint4 pattern;         // 16 bytes of the constant, over and over
// How the coordinate is bounded, how many elements it has, their stride, and how far apart the coordinates are that
// have one. Then where the coordinate begins. One more, which has one element, is the coordinate of dimensions that
// have none.
uint4 coordinates[2 * (MOST_COORDINATES + 1)];
// Size, strides in source and target, and in the numbers that the band takes. With BOUNDED a second row: which
// coordinate the dimension moves along, and by how much.
uint4 dimensions[2 * MOST_DIMENSIONS];

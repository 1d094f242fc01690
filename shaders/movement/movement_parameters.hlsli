// What C++ and movement.hlsl share.

#ifndef MOVEMENT_PARAMETERS
#define MOVEMENT_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define MOST_COORDINATES 8
#define MOVEMENT_MOST_DIMENSIONS 16

PARAMETERS(MovementParameters)
uint unit_count;
uint dimension_count;
uint source_start;
uint target_start;
uint coordinate_count;
uint has_source;       // 0: the default is zero instead of an element
uint band_begin;       // outputs with numbers in this range get the pattern
uint band_size;
uint band_inverted;    // 1: the outputs with all other numbers get it
uint own_coordinates;  // 1: each coordinate is advanced by one dimension only
uint unused1;
uint unused2;
uint4 pattern;         // 16 bytes of the repeated constant
// For each coordinate: DML_PADDING_MODE_…, size, stride, and the distance of coordinates that have an element. Second
// row: the first coordinate. An additional coordinate of size 1 is for dimensions that advance none.
uint4 coordinates[2 * (MOST_COORDINATES + 1)];
// Size, strides in source and target, and the stride of the band's numbers. With BOUNDED a second row: the coordinate
// that the dimension advances, and the increment.
uint4 dimensions[2 * MOVEMENT_MOST_DIMENSIONS];
END_PARAMETERS

#endif

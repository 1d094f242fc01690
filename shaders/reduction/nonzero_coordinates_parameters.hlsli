// What C++ and nonzero_coordinates.hlsl share.

#ifndef NONZERO_COORDINATES_PARAMETERS
#define NONZERO_COORDINATES_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define NONZERO_COORDINATES_MOST_DIMENSIONS 8

PARAMETERS(NonzeroCoordinatesParameters)
uint element_count;
uint dimension_count;
uint input_kind;
uint input_packing;
uint elements_per_chunk;  // a multiple of the group size
uint chunk_count;
uint coordinate_count;
uint row_stride;          // strides of the coordinates
uint4 dimensions[NONZERO_COORDINATES_MOST_DIMENSIONS];  // size, stride in the input
// Size of the dimension, stride in the coordinates; last dimension first.
uint4 coordinates[NONZERO_COORDINATES_MOST_DIMENSIONS];
END_PARAMETERS

#endif

// The constant buffer of nonzero_coordinates.hlsl. C++ and HLSL both include this, within a structure that has the
// types.

#define MOST_DIMENSIONS 8

uint element_count;
uint dimension_count;
uint input_kind;
uint input_packing;
uint elements_per_chunk;  // a multiple of the group size
uint chunk_count;
uint coordinate_count;
uint row_stride;          // strides of the coordinates
uint4 dimensions[MOST_DIMENSIONS];   // size, stride in the input
uint4 coordinates[MOST_DIMENSIONS];  // size of the dimension, stride in the coordinates; last dimension first

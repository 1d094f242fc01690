// The constant buffer of movement_rows.hlsl. C++ and HLSL both include this, within a structure that has the types.

#define MOST_DIMENSIONS 16

uint unit_count;
uint source_start;
uint target_start;  // in vectors
uint last_dimension;
uint row_jump;      // in the source, from where a row would go on to where the next one begins
// Size, stride in the source, and the inverse of the size as FP32, if divisions can do with that, else 0.
uint4 dimensions[MOST_DIMENSIONS];

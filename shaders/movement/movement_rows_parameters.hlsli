// The constant buffer of movement_rows.hlsl. C++ and HLSL both include this, within a structure that has the types.

#define MOST_DIMENSIONS 16

uint unit_count;
uint source_start;
uint target_start;  // in vectors
uint last_dimension;
uint row_jump;      // in the source: from the end of a row to the start of the next one
// Size, stride in the source, and the inverse of the size as FP32, or 0 if it is too inaccurate for quotients.
uint4 dimensions[MOST_DIMENSIONS];

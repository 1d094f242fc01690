// What C++ and movement_rows.hlsl share.

#ifndef MOVEMENT_ROWS_PARAMETERS
#define MOVEMENT_ROWS_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define MOVEMENT_ROWS_MOST_DIMENSIONS 16

PARAMETERS(MovementRowsParameters)
uint unit_count;
uint source_start;
uint target_start;  // in vectors
uint last_dimension;
uint row_jump;      // in the source: from the end of a row to the start of the next one
// Size, stride in the source, and the inverse of the size as FP32, or 0 if it is too inaccurate for quotients.
uint4 dimensions[MOVEMENT_ROWS_MOST_DIMENSIONS];
END_PARAMETERS

#endif

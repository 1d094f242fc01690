// What C++ and indexed_movement.hlsl share.

#ifndef INDEXED_MOVEMENT_PARAMETERS
#define INDEXED_MOVEMENT_PARAMETERS

#include "shaders/common/parameters.hlsli"

// How an output's element is found.
#define KIND_GATHER 0   // the indices select the element of the source
#define KIND_ONE_HOT 1  // the first value if the index equals the element's position, otherwise the second
#define KIND_REVERSE 2  // the index is the number of leading elements in reverse order
#define KIND_RESOLVE 3  // the index is an update's address plus 1, or 0 for the source's element

#define INDEXED_MOVEMENT_MOST_DIMENSIONS 16

PARAMETERS(IndexedMovementParameters)
uint kind;
uint unit_count;
uint dimension_count;
uint source_start;
uint has_source;  // 0: zeros are used instead
uint unused0;
uint unused1;
uint unused2;
#include "shaders/movement/index_parameters.hlsli"
// Size, strides in source, target and indices. Second row: stride of the position that is compared with the index.
uint4 dimensions[2 * INDEXED_MOVEMENT_MOST_DIMENSIONS];
END_PARAMETERS

#endif

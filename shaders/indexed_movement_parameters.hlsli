// The constant buffer of indexed_movement.hlsl. C++ and HLSL both include this, within a structure that has the types.

// How an output's element finds what it is.
#define KIND_GATHER 0   // the indices say where in the source it is
#define KIND_ONE_HOT 1  // the first of tuple's places in the source if the index is its own position, else its start
#define KIND_REVERSE 2  // the index says how many elements from the first on are in reversed order
#define KIND_RESOLVE 3  // the index is the place of an update, plus 1, or 0 if it has none and is the source's

#define MOST_DIMENSIONS 16

uint kind;
uint unit_count;
uint dimension_count;
uint source_start;
uint has_source;  // 0: there are zeros
uint unused0;
uint unused1;
uint unused2;
#include "index_parameters.hlsli"
// Size, strides in source, target and indices. In a second row: that of the position which the index is about.
uint4 dimensions[2 * MOST_DIMENSIONS];

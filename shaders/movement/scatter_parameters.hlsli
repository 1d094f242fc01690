// The constant buffer of scatter.hlsl. C++ and HLSL both include this, within a structure that has the types.

#define MOST_DIMENSIONS 16

uint update_count;
uint dimension_count;
uint unused0;
uint unused1;
#include "shaders/movement/index_parameters.hlsli"
// Size, strides in the updates, in the output's numbering, and in the indices.
uint4 dimensions[MOST_DIMENSIONS];

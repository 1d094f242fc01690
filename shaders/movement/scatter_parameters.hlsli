// What C++ and scatter.hlsl share.

#ifndef SCATTER_PARAMETERS
#define SCATTER_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define SCATTER_MOST_DIMENSIONS 16

PARAMETERS(ScatterParameters)
uint update_count;
uint dimension_count;
uint unused0;
uint unused1;
#include "shaders/movement/index_parameters.hlsli"
// Size, strides in the updates, in the output's numbering, and in the indices.
uint4 dimensions[SCATTER_MOST_DIMENSIONS];
END_PARAMETERS

#endif

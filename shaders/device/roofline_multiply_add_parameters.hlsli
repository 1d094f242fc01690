// What C++ and roofline_multiply_add.hlsl share.

#ifndef ROOFLINE_MULTIPLY_ADD_PARAMETERS
#define ROOFLINE_MULTIPLY_ADD_PARAMETERS

#include "shaders/common/parameters.hlsli"

// Independent sums of a thread, each of which gets a multiply-add per step.
#define ROOFLINE_LANES 16

PARAMETERS(RooflineMultiplyAddParameters)
uint steps;
float factor;
uint unused0;
uint unused1;
END_PARAMETERS

#endif

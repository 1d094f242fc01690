// What C++ and random_generator.hlsl share.

#ifndef RANDOM_GENERATOR_PARAMETERS
#define RANDOM_GENERATOR_PARAMETERS

#include "shaders/common/parameters.hlsli"

// Blocks of four elements that a thread computes.
#define RANDOM_GENERATOR_BLOCKS 4
#define RANDOM_GENERATOR_MOST_DIMENSIONS 8

PARAMETERS(RandomGeneratorParameters)
uint element_count;
uint dimension_count;
uint packed;
uint unused0;
// Stride between words of the state.
uint state_stride;
uint new_state_stride;
uint has_new_state;
uint unused1;
uint4 dimensions[RANDOM_GENERATOR_MOST_DIMENSIONS];  // size, stride in the output
END_PARAMETERS

#endif

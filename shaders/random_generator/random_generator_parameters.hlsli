// The constant buffer of random_generator.hlsl. C++ and HLSL both include this, within a structure that has the types.

#define MOST_DIMENSIONS 8

uint element_count;
uint dimension_count;
uint packed;
uint unused0;
// Stride between words of the state.
uint state_stride;
uint new_state_stride;
uint has_new_state;
uint unused1;
uint4 dimensions[MOST_DIMENSIONS];  // size, stride in the output

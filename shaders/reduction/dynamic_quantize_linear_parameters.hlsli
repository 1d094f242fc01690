// What C++ and dynamic_quantize_linear.hlsl share.

#ifndef DYNAMIC_QUANTIZE_LINEAR_PARAMETERS
#define DYNAMIC_QUANTIZE_LINEAR_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define DYNAMIC_QUANTIZE_PER_THREAD 4
#define DYNAMIC_QUANTIZE_LINEAR_MOST_DIMENSIONS 8

PARAMETERS(DynamicQuantizeLinearParameters)
uint element_count;
uint dimension_count;
uint input_kind;
uint input_packing;
uint output_is_signed;
uint output_is_packed;  // 1: the output is packed, in the order of the elements
uint unused0;
uint unused1;
uint4 dimensions[DYNAMIC_QUANTIZE_LINEAR_MOST_DIMENSIONS];  // size, strides in input and output
END_PARAMETERS

#endif

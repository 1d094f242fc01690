// The constant buffer of dynamic_quantize_linear.hlsl. C++ and HLSL both include this, within a structure that has the
// types.

#define MOST_DIMENSIONS 8

uint element_count;
uint dimension_count;
uint input_kind;
uint input_packing;
uint output_is_signed;
uint output_is_packed;  // 1: the output is packed, in the order of the elements
uint unused0;
uint unused1;
uint4 dimensions[MOST_DIMENSIONS];  // size, strides in input and output

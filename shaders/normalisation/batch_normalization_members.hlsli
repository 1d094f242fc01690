// The constant buffer of batch_normalization.hlsl. C++ and HLSL both include this, within a structure that has the
// types. See batch_normalization_parameters.hlsli.

uint element_count;  // with VECTOR, the number of groups of four
uint dimension_count;
uint kind;
uint packing;
uint part_count;     // the number of lines
uint has_second;
float line_size;
float epsilon;
uint activation;
float activation_first;
float activation_second;
uint unused;
uint4 dimensions[ROWS * MOST_DIMENSIONS];

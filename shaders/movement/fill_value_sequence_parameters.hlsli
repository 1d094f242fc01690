// The constant buffer of fill_value_sequence.hlsl. C++ and HLSL both include this, within a structure that has the
// types.

#define MOST_DIMENSIONS 8

uint element_count;
uint dimension_count;
uint kind;
uint packing;
uint packed;
uint unused0;
uint unused1;
uint unused2;
uint4 start;  // two words; for FLOAT16 the bits of FP32
uint4 delta;
uint4 dimensions[MOST_DIMENSIONS];  // size, stride in the output

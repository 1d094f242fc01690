// The constant buffer of fill_value_sequence.hlsl. C++ and HLSL both include this, within a structure that has the types.

#define KIND_INTEGER 0
#define KIND_FLOAT16 1  // start and delta are FP32
#define KIND_FLOAT32 2

// The packing of elements of 64 bits. See elements.hlsli for the others.
#define PACKING_64 0xffffffffu

#define MOST_DIMENSIONS 8

uint element_count;
uint dimension_count;
uint kind;
uint packing;
uint packed;
uint unused0;
uint unused1;
uint unused2;
uint4 start;  // bits of two words
uint4 delta;
uint4 dimensions[MOST_DIMENSIONS];  // size, stride in the output

// What C++ and element_wise.hlsl and quantize_bytes.hlsl share.

#ifndef ELEMENT_WISE_PARAMETERS
#define ELEMENT_WISE_PARAMETERS

#include "shaders/common/parameters.hlsli"

// The macro CLASS: the number type for computing.
#define CLASS_REAL 0
#define CLASS_SIGNED 1
#define CLASS_UNSIGNED 2
#define CLASS_SIGNED_64 3
#define CLASS_UNSIGNED_64 4

// Layout of the four elements of a group.
#define OPERAND_ADJACENT 0
#define OPERAND_SAME 1
#define OPERAND_ABSENT 2

// Groups of four elements that a thread of quantize_bytes.hlsl computes, and the value of its macro ALIKE for rows that
// all have the same scales and zero points.
#define QUANTIZED_GROUPS_PER_THREAD 4
#define QUANTIZED_ROWS_ALIKE 3

// Inputs come first, then outputs.
#define MOST_OPERANDS 9
#define MOST_ATTRIBUTES 8
#define ELEMENT_WISE_MOST_DIMENSIONS 16
// Rows of a dimension in a table: its size, and a stride for each operand.
#define ELEMENT_WISE_MOST_ROWS ((MOST_OPERANDS + 4) / 4)

PARAMETERS(ElementWiseParameters)
uint group_size;  // elements per thread: 4 with VECTOR, otherwise 1
uint group_total;
uint last_size;   // number of elements in the last group
uint dimension_count;
uint saturates;   // 1: integers out of the output's range are clamped. 0: they wrap
uint has_scale_bias;
float scale;
float bias;
uint activation;
float activation_first;
float activation_second;
uint zero_bits;    // always 0, but unknown to the shader compiler
uint4 operands[MOST_OPERANDS];             // kind, packing, start, the value of an absent operand
uint4 attributes[MOST_ATTRIBUTES / 4];     // as 32-bit words
uint4 dimensions[ELEMENT_WISE_MOST_ROWS * ELEMENT_WISE_MOST_DIMENSIONS];
END_PARAMETERS

#endif

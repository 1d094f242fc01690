// The constant buffer of element_wise.hlsl. C++ and HLSL both include this, within a structure that has the types.

// What the operator is computed with: the macro CLASS.
#define CLASS_REAL 0
#define CLASS_SIGNED 1
#define CLASS_UNSIGNED 2
#define CLASS_SIGNED_64 3
#define CLASS_UNSIGNED_64 4

// Where the four elements of a group lie.
#define PLACE_ADJACENT 0
#define PLACE_SAME 1
#define PLACE_ABSENT 2

// Inputs come first, then outputs.
#define MOST_OPERANDS 9
#define MOST_ATTRIBUTES 8
#define MOST_DIMENSIONS 16
// Rows of a dimension: its size, and a stride for each operand.
#define MOST_ROWS ((MOST_OPERANDS + 4) / 4)

uint group_size;  // elements of a thread: 4 with VECTOR, else 1
uint group_total;
uint last_size;   // elements of the last group
uint dimension_count;
uint saturates;   // 1: integers that the output does not hold become the nearest that it holds. 0: they wrap
uint has_scale_bias;
float scale;
float bias;
uint activation;
float activation_first;
float activation_second;
uint zero_bits;    // 0, which no compiler of shaders knows
uint4 operands[MOST_OPERANDS];             // kind, packing, place, the number that stands for an absent operand
uint4 attributes[MOST_ATTRIBUTES / 4];     // as 32-bit words
uint4 dimensions[MOST_ROWS * MOST_DIMENSIONS];

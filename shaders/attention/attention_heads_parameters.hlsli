// What C++ and attention_heads.hlsl share.

#ifndef ATTENTION_HEADS_PARAMETERS
#define ATTENTION_HEADS_PARAMETERS

#include "shaders/common/parameters.hlsli"

// Rows of a dimension in a table: its size, and a stride for each array.
#define ATTENTION_HEADS_ROWS 2
#define ATTENTION_HEADS_MOST_DIMENSIONS 4

PARAMETERS(AttentionHeadsParameters)
uint element_count;
uint dimension_count;
uint packing;
uint past_count;    // positions that precede those of the source
uint source_start;  // offset of position 0 in the source, modulo 2^32; it may lie before the tensor
uint bias_start;
uint has_bias;
uint has_present;
uint4 dimensions[ATTENTION_HEADS_ROWS * ATTENTION_HEADS_MOST_DIMENSIONS];
END_PARAMETERS

#endif

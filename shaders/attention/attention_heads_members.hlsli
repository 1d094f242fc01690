// The constant buffer of attention_heads.hlsl. C++ and HLSL both include this, within a structure that has the types.

uint element_count;
uint dimension_count;
uint packing;
uint past_count;    // positions that precede those of the source
uint source_start;  // offset of position 0 in the source, modulo 2^32; it may lie before the tensor
uint bias_start;
uint has_bias;
uint has_present;
uint4 dimensions[ATTENTION_ROWS * ATTENTION_MOST_DIMENSIONS];

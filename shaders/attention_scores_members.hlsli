// The constant buffer of attention_scores.hlsl. C++ and HLSL both include this, within a structure that has the types.

uint element_count;
uint dimension_count;
uint packing;         // of position biases
uint has_position_bias;
uint mask_type;
float filter_value;   // what masked scores get added
uint unused0;
uint unused1;
// Where a batch's numbers are in a mask that has few for each: from one batch to the next they are as far apart as the
// dimensions say.
//   KEY_LENGTH          the length
//   KEY_END_START       end and start
//   LENGTH_STARTS_ENDS  the length, the queries' start and end, the keys' start
uint4 mask_starts;
uint4 dimensions[ATTENTION_ROWS * ATTENTION_MOST_DIMENSIONS];

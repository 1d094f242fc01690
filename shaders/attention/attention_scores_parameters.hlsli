// What C++ and attention_scores.hlsl share.

#ifndef ATTENTION_SCORES_PARAMETERS
#define ATTENTION_SCORES_PARAMETERS

#include "shaders/common/parameters.hlsli"

// Rows of a dimension in a table: its size, and a stride for each array.
#define ATTENTION_SCORES_ROWS 2
#define ATTENTION_SCORES_MOST_DIMENSIONS 4

PARAMETERS(AttentionScoresParameters)
uint element_count;
uint dimension_count;
uint packing;         // of the position biases
uint has_position_bias;
uint mask_type;
float filter_value;   // the number that is added to masked scores
uint unused0;
uint unused1;
// Offsets of a batch's numbers in masks that have a few for each batch. The strides between batches are in
// `dimensions`.
//       KEY_SEQUENCE_LENGTH                  the length
//       KEY_SEQUENCE_END_START               end and start
//       KEY_QUERY_SEQUENCE_LENGTH_START_END  the length, the queries' start and end, the keys' start
uint4 mask_starts;
uint4 dimensions[ATTENTION_SCORES_ROWS * ATTENTION_SCORES_MOST_DIMENSIONS];
END_PARAMETERS

#endif

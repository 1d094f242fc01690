// What C++ and batch_normalization.hlsl share.

#ifndef BATCH_NORMALIZATION_PARAMETERS
#define BATCH_NORMALIZATION_PARAMETERS

#include "shaders/common/parameters.hlsli"

// The macro STEP: what is computed for each element, or for each line, which is the elements that share a mean.
#define STEP_NORMALIZE 0          // normalises with the given mean and variance
#define STEP_NORMALIZE_FOUND 1    // normalises with mean and variance from preceding passes
#define STEP_STATISTICS 2         // mean and variance from the results of preceding passes
#define STEP_GRADIENT 3
#define STEP_TRAINING_GRADIENT 4  // for mean and variance that depend on the input
#define STEP_SUMS 5               // gradients of scale and bias

#define BATCH_NORMALIZATION_MOST_DIMENSIONS 8
// Rows of a dimension in a table: its size, and a stride for each array.
#define ROWS 3

PARAMETERS(BatchNormalizationParameters)
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
uint4 dimensions[ROWS * BATCH_NORMALIZATION_MOST_DIMENSIONS];
END_PARAMETERS

#endif

// Constants that C++ and the batch normalisation shaders share.

// The macro STEP: what is computed for each element, or for each line, which is the elements that share a mean.
#define STEP_NORMALIZE 0          // normalises with the given mean and variance
#define STEP_NORMALIZE_FOUND 1    // normalises with mean and variance from preceding passes
#define STEP_STATISTICS 2         // mean and variance from the results of preceding passes
#define STEP_GRADIENT 3
#define STEP_TRAINING_GRADIENT 4  // for mean and variance that depend on the input
#define STEP_SUMS 5               // gradients of scale and bias

#define MOST_DIMENSIONS 8
// Rows of a dimension in a table: its size, and a stride for each array.
#define ROWS 3

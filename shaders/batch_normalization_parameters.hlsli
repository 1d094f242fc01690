// What C++ and the shaders of the batch normalisations both know.

// What is made of an element, or of a line, which is the elements that share a mean: the macro STEP.
#define STEP_NORMALIZE 0          // by mean and variance that are given
#define STEP_NORMALIZE_FOUND 1    // by those that passes before found
#define STEP_STATISTICS 2         // mean and variance that passes before found
#define STEP_GRADIENT 3
#define STEP_TRAINING_GRADIENT 4  // as mean and variance depend on the element too
#define STEP_SUMS 5               // gradients of scale and bias

#define MOST_DIMENSIONS 8
// Rows of a dimension: its size, and a stride for each array.
#define ROWS 3

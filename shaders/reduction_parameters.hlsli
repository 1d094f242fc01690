// What C++ and the shaders of reductions both know.
//
// A line is what is reduced to one result, or to one of several outputs' results. Its items are what a thread reads at
// once.

// How results are combined: the macro COMBINE.
#define COMBINE_SUM 0
#define COMBINE_PRODUCT 1
#define COMBINE_EXTREME 2
#define COMBINE_FIRST_EXTREME 3  // with its place
#define COMBINE_EXPONENTIALS 4   // sums of exponentials, relative to the largest
#define COMBINE_RANGE 5          // smallest and largest
#define COMBINE_DEVIATIONS 6     // sums of distances from the mean, and of their squares
#define COMBINE_GRADIENTS 7      // sums of gradients, and of their products with distances from the mean

// What is computed with: the macro NUMBERS.
#define NUMBERS_REAL 0       // FP32
#define NUMBERS_WORD 1       // integers of 32 bits, or bits of up to 32
#define NUMBERS_TWO_WORDS 2  // those of 64

// The macro VECTOR: an item is one element, or four: adjacent in memory, of one line or of four lines, or as far apart
// in one line as it has threads, so that threads side by side read words side by side.
#define VECTOR_NONE 0
#define VECTOR_ITEMS 1
#define VECTOR_LINES 2
#define VECTOR_SPREAD 3  // of FLOAT32, along one dimension

// The macros SOURCE and TARGET.
#define SOURCE_TENSOR 0
#define SOURCE_PARTS 1
#define TARGET_PARTS 0
#define TARGET_RESULTS 1
#define TARGET_ELEMENTS 2  // each element of the tensor becomes another by its line's result
#define TARGET_JOINED 3    // results, by the last group of a line, which brings all groups' parts together

// The macro FLOAT32: 1 where that is the type of all tensors, and an item is four elements. 0: they may be of any.

#define MAP_SAME 0
#define MAP_MAGNITUDE 1
#define MAP_SQUARE 2
#define MAP_IS_NOT_ZERO 3

#define FINISH_SAME 0
#define FINISH_MEAN 1
#define FINISH_ROOT 2
#define FINISH_LOGARITHM 3
#define FINISH_SOFTMAX 4
#define FINISH_LOG_SOFTMAX 5

// Values of the macro KEPT: how many items a thread can keep, where it needs them again.
#define KEPT_FEW 4
#define KEPT_MANY 8

// Rows of a dimension: its size, and a stride for each array.
#define MOST_ROWS 2
#define MOST_DIMENSIONS 8

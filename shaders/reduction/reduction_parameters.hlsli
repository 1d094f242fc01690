// Constants that C++ and the reduction shaders share.
//
// A line is what is reduced to one result, or to one result of each output. Its items are what a thread reads at once.

// The macro COMBINE: how elements are combined.
#define COMBINE_SUM 0
#define COMBINE_PRODUCT 1
#define COMBINE_EXTREME 2
#define COMBINE_FIRST_EXTREME 3  // with its index
#define COMBINE_EXPONENTIALS 4   // sums of exponentials, relative to the maximum
#define COMBINE_RANGE 5          // minimum and maximum
#define COMBINE_DEVIATIONS 6     // sums of deviations from the mean, and of their squares
#define COMBINE_GRADIENTS 7      // sums of gradients, and of their products with deviations from the mean

// The macro NUMBERS: the number type.
#define NUMBERS_REAL 0       // FP32
#define NUMBERS_WORD 1       // 32-bit integers, or bits of up to 32
#define NUMBERS_TWO_WORDS 2  // 64-bit integers or bits

// The macro VECTOR: an item is one element, or four elements: contiguous ones of one line, adjacent ones of four lines,
// or elements of one line that are as far apart as the line has threads, so that adjacent threads read adjacent words.
#define VECTOR_NONE 0
#define VECTOR_ITEMS 1
#define VECTOR_LINES 2
#define VECTOR_SPREAD 3  // FLOAT32, along one dimension

// The macros SOURCE and TARGET.
#define SOURCE_TENSOR 0
#define SOURCE_PARTS 1
#define TARGET_PARTS 0
#define TARGET_RESULTS 1
#define TARGET_ELEMENTS 2  // each element of the tensor, computed from its line's result
#define TARGET_JOINED 3    // results; the last group of a line merges all groups' parts

// The macro FLOAT32: 1 if all tensors have that type and an item is four elements. 0: any types.

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

// Values of the macro KEPT: how many items a thread can keep in registers, if it needs them again.
#define KEPT_FEW 4
#define KEPT_MANY 8

// Rows of a dimension in a table: its size, and a stride for each array.
#define MOST_ROWS 2
#define MOST_DIMENSIONS 8

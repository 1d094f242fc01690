// What C++ and the shaders of reductions share.
//
// A line is what is reduced to one result, or to one result of each output. Its items are what a thread reads at once.

#ifndef REDUCTION_PARAMETERS
#define REDUCTION_PARAMETERS

#include "shaders/common/parameters.hlsli"

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
#define VECTOR_SPREAD 3  // FLOAT32, or pairs of FLOAT16, along one dimension

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

// Items of a thread of cumulative.hlsl.
#define CUMULATED_PER_THREAD 8

// Rows of a dimension in a table: its size, and a stride for each array.
#define MOST_ROWS 2
#define REDUCTION_MOST_DIMENSIONS 8

PARAMETERS(ReductionParameters)
uint line_count;            // with VECTOR_LINES, the number of groups of four lines
uint line_dimension_count;
uint item_count;            // items of a line
uint item_dimension_count;
uint chunk_count;           // parts of a line that different groups reduce
uint items_per_chunk;
uint threads_per_line;      // a power of two
uint columns_per_line;      // threads in a row; a line has several rows
uint lines_per_group;
uint lines_side_by_side;    // 1: adjacent threads have adjacent lines. 0: they have adjacent items
uint input_kind;
uint input_packing;
uint input_start;           // offset of the first item of the first line
uint output_kind;
uint output_packing;
uint output_start;
uint output_step;           // with VECTOR_LINES: stride between the results of lines
uint map;
uint finish;
uint parts_before_count;    // number of chunks of all lines in the source
uint part_count;            // the same in the target
uint part_line_count;       // number of lines, each counted separately
uint sign_flip;             // for sort keys, see reduction_states.hlsli
uint order_flip;
uint nan_above;
uint rank_flip;
uint is_exclusive;          // 1: cumulative results exclude the item itself
float line_size;            // number of elements in a line
float epsilon;
uint zero_bits;             // always 0, but unknown to the shader compiler
uint word_count;            // words of a line, with VECTOR_SPREAD; its strides and offsets count words, too
uint lane_shift;            // the bits of a thread's index from this one on are its index in its line,
uint line_shift;            // and those from this one on are its line's index in the group
uint rows_per_line;         // rows of columns_per_line threads
uint unused0;
uint unused1;
uint4 line_dimensions[MOST_ROWS * REDUCTION_MOST_DIMENSIONS];
uint4 item_dimensions[MOST_ROWS * REDUCTION_MOST_DIMENSIONS];
END_PARAMETERS

#endif

// What C++ and the shaders of MEAN_VARIANCE_NORMALIZATION and its successors share. A set is a normalisation group.

#ifndef MEAN_VARIANCE_NORMALIZATION1_PARAMETERS
#define MEAN_VARIANCE_NORMALIZATION1_PARAMETERS

#include "shaders/common/parameters.hlsli"

// Elements that a thread of mean_variance_normalization1.hlsl keeps.
#define NORMALIZATION_PER_THREAD 16

// The macro KEPT: how many items a thread of mean_variance_normalization1_kept.hlsl keeps. The most only for FLOAT32,
// because vectors of FLOAT16 have twice as many numbers, and for sets that are a single line.
#define NORMALIZATION_KEPT_FEW 4
#define NORMALIZATION_KEPT_MANY 8
#define NORMALIZATION_KEPT_MOST 16

// Tasks of mean_variance_normalization1_kept.hlsl.
#define TASK_NORMALIZE_SETS 0
#define TASK_FIND_CHUNKS 1
#define TASK_APPLY_CHUNKS 2
#define TASK_APPLY_STATISTICS 3

// Values of has_scale and has_bias.
#define PARAMETERS_ANYWHERE 1
#define PARAMETERS_IN_UNITS 2
#define PARAMETERS_OF_SETS 3  // all items of a set share one parameter

#define NORMALIZATION_MOST_DIMENSIONS 8

PARAMETERS(NormalizationParameters)
uint set_count;
uint set_dimension_count;
uint item_count;            // in a set; in mean_variance_normalization1_apply in the whole tensor
uint item_dimension_count;
uint chunk_count;           // parts of a set that different thread groups reduce
uint items_per_chunk;
uint threads_per_set;       // a power of two
uint sets_per_group;
uint sets_side_by_side;     // 1: adjacent sets are closer in memory than adjacent items of a set
uint has_scale;             // 0, or how parameters are stored
uint has_bias;
uint scale_step;            // strides within an item
uint bias_step;
uint normalize_variance;
float epsilon;
uint activation;
float activation_first;
float activation_second;
uint output_is_packed;
float set_size;
uint subtract_mean;         // 0: the mean is not subtracted
uint columns_per_set;       // threads in a row; a set has several rows
uint set_shift;             // the binary logarithm of threads_per_set
uint task;                  // TASK_…, see mean_variance_normalization1_kept.hlsl
// Adding threads_per_set to an item's number advances by this many lines, and items within a line.
uint step_lines;
uint step_items;
uint rows_per_set;          // rows of columns_per_set threads, a power of two
uint unused;
// Size, strides in input and output in items, and the stride of set numbers.
uint4 set_dimensions[NORMALIZATION_MOST_DIMENSIONS];
uint4 item_dimensions[NORMALIZATION_MOST_DIMENSIONS];
// Strides of the same dimensions in scale and bias, in elements.
uint4 set_parameters[NORMALIZATION_MOST_DIMENSIONS];
uint4 item_parameters[NORMALIZATION_MOST_DIMENSIONS];
END_PARAMETERS

#endif

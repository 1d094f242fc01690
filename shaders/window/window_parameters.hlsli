// What C++ and window.hlsl share.

#ifndef WINDOW_PARAMETERS
#define WINDOW_PARAMETERS

#include "shaders/common/parameters.hlsli"
#include "shaders/window/window_functions.hlsli"

#define MOST_WINDOW_DIMENSIONS 3
#define WINDOW_TENSOR_DIMENSIONS 5
// Rows of a dimension in a table: see `dimensions`.
#define WINDOW_ROWS 2

PARAMETERS(WindowParameters)
uint element_count;      // of the output
uint dimension_count;
uint kind;               // of the source's elements
uint output_kind;
uint packing;
uint has_values;         // WINDOW_LARGEST_INDEX: 0 if only indices are wanted
uint index_words;        // 1 or 2; 0 if indices are not wanted
uint includes_padding;   // whether divisors count padding
// Sort keys of elements: see key_of.
uint sign_mask;
uint key_offset;
uint nan_key;
uint no_index;           // the index for a window that covers nothing
uint lowest_low;
uint lowest_high;
float exponent;          // P, or Beta
float inverse_exponent;
float factor;            // Alpha / LocalSize
float bias;
float gradient_factor;   // 2 Alpha Beta / LocalSize
uint parameters_present; // bit 0: the input's zero point is present, bit 1: the output's
// Strides between channels of the input's scale and zero point, and of the output's.
uint4 parameter_strides;
// Strides between the planes of lanes, in the order of a dimension's strides.
uint4 lane_strides;
// For each dimension that windows slide over, innermost first: size, stride, dilation and padding at the start. Second
// row: size of what windows see, its stride in the first and the second tensor that is read and, for gradients, the end
// of what divisors count, relative to the start of the padding.
uint4 windows[2 * MOST_WINDOW_DIMENSIONS];
// Size, strides in both tensors that are read (unless windows slide along the dimension), and in the output. Then the
// strides of indices or channel numbers, and those of the window indices along their dimensions.
uint4 dimensions[WINDOW_ROWS * WINDOW_TENSOR_DIMENSIONS];
END_PARAMETERS

#endif

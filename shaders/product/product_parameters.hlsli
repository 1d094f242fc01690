// What C++ and the shaders of products share.

#ifndef PRODUCT_PARAMETERS
#define PRODUCT_PARAMETERS

#include "shaders/common/parameters.hlsli"

// The macro NUMBERS: the types of factors and sums.
#define PRODUCT_REAL 0     // FLOAT32 and FLOAT16, summed in FP32
#define PRODUCT_INTEGER 1  // 8-bit integers, summed in 32 bits
#define PRODUCT_MIXED 2    // any integers of up to 32 bits, summed in FP32

// Number of elements of each operand that a thread reads in a k-step of a tile.
#define PRODUCT_SHARE 4
// The depth of a k-step in a tile.
#define PRODUCT_TURN_DEPTH(tile) (PRODUCT_SHARE * GROUP_SIZE / (tile))

// The middle of the range of 8-bit integers, relative to the lowest number.
#define PRODUCT_CENTRE 128

// Tiles of 8-bit integers of this size park their integer sums in memory after each section of this depth.
#define PRODUCT_PARKED_SIDE 128
#define PRODUCT_EXACT_DEPTH 512

// The maximum depth that product_parted.hlsl sums.
#define PRODUCT_PARTED_DEPTH 1024

// Rows of a dimension of the products in a table: its size, and a stride for each operand.
#define PRODUCT_ROWS 2
#define PRODUCT_MOST_DIMENSIONS 6

// Limits for windows in tiles: filter elements in total, each of which has a bit, and along a dimension.
#define PRODUCT_MOST_TAPS 64
#define PRODUCT_MOST_TAPS_ALONG 32

// The macro PACKING, if the packing of A and B is a parameter instead.
#define PRODUCT_ANY_PACKING 9

PARAMETERS(ProductParameters)
uint product_count;
uint row_count;
uint column_count;
uint depth;
uint row_tiles;
uint column_tiles;
uint slice_count;
uint slice_depth;

uint a_row;  // strides
uint a_depth;
uint b_column;
uint b_depth;
uint output_row;
uint output_column;
uint addend_row;
uint addend_column;

uint a_packing;
uint b_packing;
uint output_packing;
uint dimension_count;
uint a_sign;  // for integers: the sign bit of signed types, otherwise 0
uint b_sign;
uint output_sign;
uint has_addend;
uint a_along_depth;  // 1: adjacent threads read along the depth. 0: along rows
uint b_along_depth;
uint has_a_zero;
uint has_b_zero;
uint has_output_zero;
uint is_quantized;
uint parameter_rows;  // distance of the next product's parameters, for parameters with one element per row
uint activation;
uint a_zero_step;  // stride between rows (columns); 0 if they share an element
uint b_zero_step;
uint a_scale_step;
uint b_scale_step;
uint output_zero_step;
uint output_scale_step;
float activation_first;
float activation_second;
float alpha;
float beta;
uint is_backward;
uint tap_count;

uint input_channel;  // strides
uint filter_channel;
uint turn_taps;      // the depth of a k-step in channels, and in additional filter elements
uint turn_channels;
uint is_filter_in_order;  // 1: the elements of a filter's row are contiguous, channel by channel

// For matrices of 8-bit integers: 1 if four elements always form a word, of A along the depth, of B along columns.
uint a_in_words;
uint b_in_words;

uint first_parked;  // start of the words in which tiles park their sums

uint4 dimensions[PRODUCT_ROWS * PRODUCT_MOST_DIMENSIONS];

// For windows: batch or 0, depth, height, width.
uint4 column_sizes;
uint4 column_strides;  // strides in the output
uint4 summed_size;     // size of the output, without output padding
uint4 input_strides;
uint4 input_size;
uint4 window;
uint4 window_stride;
uint4 dilation;
uint4 start_padding;
uint4 filter_strides;  // the first one is the offset of the first filter element
// For each filter element: its offset in the input and in the filter, relative to the first one, and the distance in
// both to the next one; after the last one this is the first one in the channels of the next k-step.
uint4 taps[PRODUCT_MOST_TAPS];
END_PARAMETERS

#endif

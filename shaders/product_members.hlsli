// The constant buffer of the shaders of products. C++ and HLSL both include this, within a structure that has the
// types.
// See product.hlsli.

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
uint a_sign;  // of integers: the sign bit of signed ones, else 0
uint b_sign;
uint output_sign;
uint has_addend;
uint a_along_depth;  // 1: adjacent threads read along the depth. 0: along rows
uint b_along_depth;
uint has_a_zero;
uint has_b_zero;
uint has_output_zero;
uint is_quantized;
uint parameter_rows;  // from one product's rows to those of the next, in parameters that rows have
uint activation;
uint a_zero_step;  // from one row's or column's to the next; 0 when they share one
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
uint turn_taps;      // what a turn's depth is in channels, and in taps beyond them
uint turn_channels;
uint is_filter_in_order;  // 1: a row of the filter has its elements side by side, each channel's taps together

// Of matrices of 8-bit integers: 1 where any four elements are a word, of A along the depth, of B along columns.
uint a_in_words;
uint b_in_words;

uint first_parked;  // of the words where tiles park their sums

uint4 dimensions[PRODUCT_ROWS * PRODUCT_MOST_DIMENSIONS];

// Of windows: image or nothing, depth, height, width.
uint4 column_sizes;
uint4 column_strides;  // in the output
uint4 summed_size;     // of the output, less the padding at its end
uint4 input_strides;
uint4 input_size;
uint4 window;
uint4 window_stride;
uint4 dilation;
uint4 start_padding;
uint4 filter_strides;  // the first one: where the first tap is
// Where each is in the input and in the filter, both relative to the first one; and how far it is in either to the next
// one, which after the last is the first in the channels of the next turn.
uint4 taps[PRODUCT_MOST_TAPS];

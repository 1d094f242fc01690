// What C++ and quantized_depthwise_convolution.hlsl and quantized_depthwise_tiled.hlsl share.
// Pairs are height and width.

#ifndef QUANTIZED_DEPTHWISE_PARAMETERS
#define QUANTIZED_DEPTHWISE_PARAMETERS

#include "shaders/common/parameters.hlsli"

// The sum of this many products of two differences of 8-bit numbers is below 2^24 - 2^8.
#define DEPTHWISE_EXACT_TAPS 256

// Tiles: see quantized_depthwise_tiled.hlsl.
#define DEPTHWISE_THREAD_ROWS 2
// Contiguous inputs that a thread reads: two groups of four.
#define DEPTHWISE_SEGMENT 8
// Room for groups of four filter elements, and for channels.
#define DEPTHWISE_TAP_FOURS 128
#define DEPTHWISE_CHANNELS 32
#define DEPTHWISE_QUOTIENT_BITS 20

PARAMETERS(QuantizedDepthwiseParameters)
uint batch;
uint output_channels;
uint group_output_channels;
uint input_sign;               // 0x80 for INT8, otherwise 0
uint2 input_size;
uint2 filter_size;
uint2 output_size;
uint2 window_stride;
uint2 dilation;
uint2 start_padding;
uint4 input_strides;           // batch, channel, height, width
uint4 filter_strides;
uint4 output_strides;
uint filter_sign;
uint output_sign;
uint has_input_zero_point;
uint has_filter_zero_point;
uint has_bias;
uint has_output_zero_point;
uint filter_scale_step;        // stride between output channels; 0 if they share a scale
uint filter_zero_point_step;
uint bias_step;
uint output_is_packed;
uint inputs_adjacent;          // 1: adjacent outputs of a row read contiguous inputs
uint unused;
// Tiles: see quantized_depthwise_tiled.hlsl.
uint channel_tiles;            // number of tiles in each direction
uint row_tiles;
uint four_tiles;
uint tile_channels;            // size of a tile
uint tile_rows;                // of the output
uint tile_fours;               // in groups of four columns of the output
uint tile_input_rows;          // for each channel
uint tile_input_segments;     // for each row
uint segment_count;            // of the tile
uint thread_count;             // threads that compute outputs
uint row_taps;                 // groups of four filter elements in a row of the filter
uint input_words;              // number of words in the input
// Factors that replace divisions of small numbers: see quotient_by.
uint by_tile_fours;
uint by_tile_turns;            // for the number of rows of a tile, divided by the number that a thread computes
uint by_tile_input_rows;
uint by_tile_input_segments;
END_PARAMETERS

#endif

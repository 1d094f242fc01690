// The constant buffer of quantized_depthwise_convolution.hlsl and quantized_depthwise_tiled.hlsl. C++ and HLSL both
// include this, within a structure that has the types. Pairs are height and width.

uint batch;
uint output_channels;
uint group_output_channels;
uint input_sign;               // 0x80 for INT8, else 0
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
uint filter_scale_step;        // from one output channel to the next; 0 when they share one
uint filter_zero_point_step;
uint bias_step;
uint output_is_packed;
uint inputs_adjacent;          // 1: outputs side by side in a row read inputs side by side in memory
uint unused;
// Tiles: see quantized_depthwise_tiled.hlsl.
uint channel_tiles;            // how many there are in each direction
uint row_tiles;
uint four_tiles;
uint tile_channels;            // how large they are
uint tile_rows;                // of the output
uint tile_fours;               // of columns of the output
uint tile_input_rows;          // of each channel
uint tile_input_stretches;     // of each row
uint stretch_count;            // of the tile
uint thread_count;             // threads that make outputs
uint row_taps;                 // fours of taps in a row of the filter
uint input_words;              // how many words the input has
// What small numbers are multiplied with to divide them: see quotient_by.
uint by_tile_fours;
uint by_tile_turns;            // rows of a tile, divided by those that a thread makes
uint by_tile_input_rows;
uint by_tile_input_stretches;

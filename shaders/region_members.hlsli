// The constant buffer of region.hlsl. C++ and HLSL both include this, within a structure that has the types. See
// region_parameters.hlsli.

uint element_count;
uint dimension_count;
uint packing;
uint region_count;
uint takes_largest;   // of samples; 0: their mean
uint interpolates;
uint aligns_corners;
uint index_words;     // of a batch index
float scale_x;
float scale_y;
float input_offset;
float output_offset;
float outside_value;
uint least_samples;   // along an axis
uint most_samples;
uint unused;
uint sign_mask;       // see key_of in window_states.hlsli
uint key_offset;
uint height;          // of a picture
uint width;
uint pooled_height;   // of what a region becomes
uint pooled_width;
uint batches;
uint channels;
uint4 picture_strides;   // batches, channels, height, width
uint4 gradient_strides;  // the same of what the forward pass made: regions come first
uint4 region_strides;    // regions, their coordinates, batch indices
// Size, stride in the output, and the place along each of its four dimensions.
uint4 dimensions[REGION_ROWS * REGION_DIMENSIONS];

// The constant buffer of window.hlsl. C++ and HLSL both include this, within a structure that has the types. See
// window_parameters.hlsli.

uint element_count;      // of the output
uint dimension_count;
uint kind;               // of the source's elements
uint output_kind;
uint packing;
uint has_values;         // WINDOW_LARGEST_PLACE: 0 where only places are wanted
uint place_words;        // 1 or 2; 0 where places are not wanted
uint includes_padding;   // in divisors
// Keys by which elements are compared: see key_of.
uint sign_mask;
uint key_offset;
uint nan_key;
uint no_place;           // what a window has that sees nothing
uint lowest_low;
uint lowest_high;
float exponent;          // P, or Beta
float inverse_exponent;
float factor;            // Alpha / LocalSize
float bias;
float gradient_factor;   // 2 Alpha Beta / LocalSize
uint parameters_present; // 1: the input's zero point, 2: the output's
// From one channel's to the next: the input's scale and zero point, the output's.
uint4 parameter_strides;
// From one lane's plane to the next, in the order of a dimension's strides.
uint4 lane_strides;
// Of each dimension that windows slide over, the innermost first. First size, stride, dilation and padding in front.
// Second how many places there are in what windows see, from one of them to the next in the first and the second
// tensor that is read, and in the case of gradients the end of what divisors count, from the start of the padding on.
uint4 windows[2 * MOST_WINDOW_DIMENSIONS];
// Size, strides in both tensors that are read, as far as windows do not slide along it, and in the output. Then that in
// the output of places or of channels' numbers, and those in the numbers of windows along their dimensions.
uint4 dimensions[WINDOW_ROWS * WINDOW_TENSOR_DIMENSIONS];

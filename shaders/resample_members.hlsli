// The constant buffer of resample.hlsl. C++ and HLSL both include this, within a structure that has the types. See
// resample_parameters.hlsli.

uint element_count;
uint dimension_count;
uint kind;
uint packing;
uint nearest;
uint scaled_count;
uint interpolates;  // gradients
uint unused;
// Of each dimension that is scaled: how many elements the forward pass's input has along it, and from one element of
// what is read to the next. Then, as FP32's bits, the scale and the offset in the output; in a second row the offset in
// the input and the filter's slope, and how many elements the forward pass's output has.
uint4 scaled[2 * MOST_SCALED];
// Size, strides in the input where that is not scaled and in the output; then the place along scaled dimensions.
uint4 dimensions[ROWS * MOST_DIMENSIONS];

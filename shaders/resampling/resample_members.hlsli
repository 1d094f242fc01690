// The constant buffer of resample.hlsl. C++ and HLSL both include this, within a structure that has the types. See
// resample_parameters.hlsli.

uint element_count;
uint dimension_count;
uint kind;
uint packing;
uint nearest;
uint scaled_count;
uint interpolates;  // for gradients: 1 for linear interpolation
uint unused;
// For each scaled dimension: the forward input's size, the stride of what is read, and as FP32 bits the scale and the
// output offset. Second row: the input offset, the filter's slope, and the forward output's size.
uint4 scaled[2 * MOST_SCALED];
// Size, strides in the input (unless scaled) and in the output; then the stride of the position along scaled
// dimensions.
uint4 dimensions[ROWS * MOST_DIMENSIONS];

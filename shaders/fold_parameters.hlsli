// The constant buffer of fold.hlsl. C++ and HLSL both include this, within a structure that has the types.

#define MOST_WINDOW_DIMENSIONS 6
#define MOST_DIMENSIONS 8

uint element_count;
uint dimension_count;
uint window_dimension_count;
uint window_count;   // places in a window
uint kind;
uint packing;
uint window_stride;  // from a window's place to the next
uint block_stride;
// Window, dilation, stride, how many blocks there are. Then the padding in front, and from one block to the next in
// their numbers.
uint4 windows[2 * MOST_WINDOW_DIMENSIONS];
// Size, strides in the input for a block and place of 0, and in the output, and which of the windows' dimensions it is;
// of others, one that no window has.
uint4 dimensions[MOST_DIMENSIONS];

// Values of the macro FUNCTION: what window.hlsl computes. region.hlsl and C++ know them, too.

#ifndef WINDOW_FUNCTIONS
#define WINDOW_FUNCTIONS

// From the elements that a window covers:
#define WINDOW_AVERAGE 0
#define WINDOW_ROOT 1               // from a sum of powers
#define WINDOW_QUANTIZED_AVERAGE 2
#define WINDOW_LARGEST 3
#define WINDOW_LARGEST_INDEX 4      // with its index
#define WINDOW_LARGEST_TWO_WORDS 5  // both, for 64-bit elements
// From the windows that cover an element, and their gradients:
#define WINDOW_AVERAGE_GRADIENT 6
#define WINDOW_LARGEST_GRADIENT 7
// Local response normalisation, from the squares that a window covers, and the element itself:
#define WINDOW_RESPONSE 8
#define WINDOW_RESPONSE_PARTS 9     // what the gradient needs of each element
#define WINDOW_RESPONSE_GRADIENT 10

#endif

// What C++ and the shaders of windows both know.

// What an element of the output is made of: the macro FUNCTION. Of the elements that its window sees …
#define WINDOW_AVERAGE 0
#define WINDOW_ROOT 1               // of a sum of powers
#define WINDOW_QUANTIZED_AVERAGE 2
#define WINDOW_LARGEST 3
#define WINDOW_LARGEST_PLACE 4      // and where it is
#define WINDOW_LARGEST_TWO_WORDS 5  // both, of 64 bits
// … or of the windows that see it, and of their gradients.
#define WINDOW_AVERAGE_GRADIENT 6
#define WINDOW_LARGEST_GRADIENT 7
// Local responses: of the squares that its window sees, and of itself.
#define WINDOW_RESPONSE 8
#define WINDOW_RESPONSE_PARTS 9     // what the gradient needs of each element
#define WINDOW_RESPONSE_GRADIENT 10

#define MOST_WINDOW_DIMENSIONS 3
#define WINDOW_TENSOR_DIMENSIONS 5
// Rows of a dimension: see window_members.hlsli.
#define WINDOW_ROWS 2

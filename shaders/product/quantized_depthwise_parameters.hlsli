// Constants that C++ and the shaders of quantised depthwise convolutions share.

// The sum of this many products of two differences of 8-bit numbers is below 2^24 - 2^8.
#define DEPTHWISE_EXACT_TAPS 256

// Tiles: see quantized_depthwise_tiled.hlsl.
#define DEPTHWISE_GROUP_SIZE 256
#define DEPTHWISE_THREAD_ROWS 2
// Contiguous inputs that a thread reads: two groups of four.
#define DEPTHWISE_SEGMENT 8
// Room for groups of four filter elements, and for channels.
#define DEPTHWISE_TAP_FOURS 128
#define DEPTHWISE_CHANNELS 32
#define DEPTHWISE_QUOTIENT_BITS 20

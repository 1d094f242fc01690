// What C++ and the shaders of quantized depthwise convolutions both know.

// So many products of two differences of 8-bit numbers have a sum below 2^24 - 2^8.
#define DEPTHWISE_EXACT_TAPS 256

// Tiles: see quantized_depthwise_tiled.hlsl.
#define DEPTHWISE_GROUP_SIZE 256
#define DEPTHWISE_THREAD_ROWS 2
// Inputs that a thread reads, side by side: two fours.
#define DEPTHWISE_STRETCH 8
// Room for fours of taps, and for channels.
#define DEPTHWISE_TAP_FOURS 128
#define DEPTHWISE_CHANNELS 32
#define DEPTHWISE_QUOTIENT_BITS 20

// What C++ and the shaders of products both know.

// The macro NUMBERS: what is multiplied, and summed.
#define PRODUCT_REAL 0     // FLOAT32 and FLOAT16, summed in FP32
#define PRODUCT_INTEGER 1  // 8-bit integers, summed in 32 bits
#define PRODUCT_MIXED 2    // any integers of up to 32 bits, summed in FP32

// Each thread reads so many elements of either operand in a turn of a tile.
#define PRODUCT_SHARE 4
#define PRODUCT_GROUP_SIZE 256
// How deep a tile's turn is.
#define PRODUCT_TURN_DEPTH(tile) (PRODUCT_SHARE * PRODUCT_GROUP_SIZE / (tile))

// The middle of 8-bit integers' range, above its lowest number.
#define PRODUCT_CENTRE 128

// Tiles of 8-bit integers of this side park their sums of integers in memory whenever this much of the depth is summed.
#define PRODUCT_PARKED_SIDE 128
#define PRODUCT_EXACT_DEPTH 512

// What product_parted.hlsl sums at most.
#define PRODUCT_PARTED_DEPTH 1024

// Rows of a dimension of the products: its size, and a stride for each operand.
#define PRODUCT_ROWS 2
#define PRODUCT_MOST_DIMENSIONS 6

// Windows of tiles: taps in all, which have a bit each, and along a dimension.
#define PRODUCT_MOST_TAPS 64
#define PRODUCT_MOST_TAPS_ALONG 32

// The macro PACKING: A's and B's are data.
#define PRODUCT_ANY_PACKING 9

// Constants that C++ and the product shaders share.

// The macro NUMBERS: the types of factors and sums.
#define PRODUCT_REAL 0     // FLOAT32 and FLOAT16, summed in FP32
#define PRODUCT_INTEGER 1  // 8-bit integers, summed in 32 bits
#define PRODUCT_MIXED 2    // any integers of up to 32 bits, summed in FP32

// Number of elements of each operand that a thread reads in a k-step of a tile.
#define PRODUCT_SHARE 4
#define PRODUCT_GROUP_SIZE 256
// The depth of a k-step in a tile.
#define PRODUCT_TURN_DEPTH(tile) (PRODUCT_SHARE * PRODUCT_GROUP_SIZE / (tile))

// The middle of the range of 8-bit integers, relative to the lowest number.
#define PRODUCT_CENTRE 128

// Tiles of 8-bit integers of this size park their integer sums in memory after each section of this depth.
#define PRODUCT_PARKED_SIDE 128
#define PRODUCT_EXACT_DEPTH 512

// The maximum depth that product_parted.hlsl sums.
#define PRODUCT_PARTED_DEPTH 1024

// Rows of a dimension of the products in a table: its size, and a stride for each operand.
#define PRODUCT_ROWS 2
#define PRODUCT_MOST_DIMENSIONS 6

// Limits for windows in tiles: filter elements in total, each of which has a bit, and along a dimension.
#define PRODUCT_MOST_TAPS 64
#define PRODUCT_MOST_TAPS_ALONG 32

// The macro PACKING, if the packing of A and B is a parameter instead.
#define PRODUCT_ANY_PACKING 9

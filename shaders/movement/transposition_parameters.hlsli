// What C++ and transposition.hlsl share.

#ifndef TRANSPOSITION_PARAMETERS
#define TRANSPOSITION_PARAMETERS

#include "shaders/common/parameters.hlsli"

// A tile is this many words wide, and has as many rows, in both directions, as that width has units.
#define TILE_WORDS 32

#define TRANSPOSITION_MOST_DIMENSIONS 16

PARAMETERS(TranspositionParameters)
uint row_size;         // units that are adjacent in the output
uint column_size;      // units that are adjacent in the source
uint source_stride;    // stride in the source between units of a row
uint target_stride;    // stride in the output between rows
uint source_start;
uint target_start;
uint tiles_per_row;
uint tiles_per_column;
uint tile_count;
uint dimension_count;  // number of other dimensions
uint unused0;
uint unused1;
// Other dimensions: size, strides in source and target.
uint4 dimensions[TRANSPOSITION_MOST_DIMENSIONS];
END_PARAMETERS

#endif

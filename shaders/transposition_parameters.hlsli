// The constant buffer of transposition.hlsl. C++ and HLSL both include this, within a structure that has the types.

// Tiles are so many words wide, and have so many rows of units in either direction as such a width has units.
#define TILE_WORDS 32

#define MOST_DIMENSIONS 16

uint row_size;         // units that are adjacent in the output
uint column_size;      // units that are adjacent in the source
uint source_stride;    // from a row's unit to the next, in the source
uint target_stride;    // from a row to the next, in the output
uint source_start;
uint target_start;
uint tiles_per_row;
uint tiles_per_column;
uint tile_count;
uint dimension_count;  // of the others
uint unused0;
uint unused1;
// Of the others: size, strides in source and target.
uint4 dimensions[MOST_DIMENSIONS];

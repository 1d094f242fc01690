// What C++ and the shaders of TOP_K1 share, except for merging.

#ifndef TOP_K1_PARAMETERS
#define TOP_K1_PARAMETERS

#include "shaders/common/parameters.hlsli"

// A tile of top_k1.hlsl: its entries, and the maximum number of sequences in it.
#define TOP_K1_TILE 2048
#define TOP_K1_TILE_SEQUENCES 256

// Entries of a thread of top_k1_sort.hlsl.
#define TOP_K1_SORTED_PER_THREAD 16

// Entries for which top_k1_few.hlsl has room in groupshared memory, per thread: for threads with the most entries, and
// for others.
#define TOP_K1_MOST_PER_THREAD 32
#define TOP_K1_ROOM_FOR_MOST 14
#define TOP_K1_ROOM 8

// Elements for a group of top_k1_chunks.hlsl: this many parts of this binary logarithm of their size.
#define TOP_K1_PARTS 16
#define TOP_K1_LOG_PART 10

#define TOP_K1_MOST_DIMENSIONS 8

PARAMETERS(TopK1Parameters)
uint sequence_count;
uint sequence_dimension_count;
uint k;
uint packing;      // see elements.hlsli; 3 for 64-bit elements, which have two words
uint input_step;   // strides along the axis
uint value_step;
uint index_step;
uint index_words;  // 1 or 2
uint nan_above;    // a number is NaN if its magnitude, shifted to the top of a word, exceeds this; 0 for integers
uint sign_flip;    // 0x80000000 for signed integers
uint order_flip;   // 0xffffffff if the largest elements come first
uint entry_count;  // entries of one sequence in the source: elements or candidates
uint slots;        // slots of the tile for each sequence, a power of two
uint run;          // number of slots for each sequence's winners, a power of two
uint kept;         // number of winners of each tile that are kept
uint sequences_per_tile;
uint tiles_per_sequence;
uint sequences_side_by_side;  // 1: adjacent sequences are closer in memory than adjacent elements
uint picks;        // 1: a few winners are picked from many entries before sorting
uint log_threads;  // binary logarithm of the number of threads for each sequence, for small K
uint log_chunk;    // binary logarithm of the chunk length of a very long sequence
uint4 sequence_dimensions[TOP_K1_MOST_DIMENSIONS];  // size, stride in input, values and indices
END_PARAMETERS

#endif

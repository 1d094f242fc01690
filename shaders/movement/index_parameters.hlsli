// The members that indices.hlsli needs in a constant buffer. C++ and HLSL both include this, within a structure that
// has the types.

// Number of indices in a tuple.
#define MOST_INDICES 8

uint index_words;     // words of an index: 1 or 2
uint index_has_sign;
uint tuple_size;      // number of indices that form coordinates
uint tuple_stride;
uint4 tuple[MOST_INDICES];  // for each index, the size of the dimension and its stride

// What indices.hlsli needs in a constant buffer. C++ and HLSL both include this, within a structure that has the types.

// Of the data, if that is a tuple of indices.
#define MOST_INDICES 8

uint index_words;     // of an index: 1 or 2
uint index_has_sign;
uint tuple_size;      // indices that make one place
uint tuple_stride;
uint4 tuple[MOST_INDICES];  // how many places the index chooses among, and how far apart they are

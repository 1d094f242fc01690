// How elements lie where threads make them one by one: the macro ELEMENTS. C++ and HLSL both include this.

#define ELEMENTS_WORDS 0   // they have 32 or 64 bits
#define ELEMENTS_NARROW 1  // they have fewer; a thread makes one
#define ELEMENTS_PACKED 2  // they have fewer, the output's have no gaps between them, and a thread makes a word of them

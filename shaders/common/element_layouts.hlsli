// The macro ELEMENTS: layout of elements that threads compute one by one. C++ and HLSL both include this.

#define ELEMENTS_WORDS 0   // elements have 32 or 64 bits
#define ELEMENTS_NARROW 1  // narrower elements; a thread computes one
#define ELEMENTS_PACKED 2  // narrower elements, contiguous in the output; a thread computes a word of them

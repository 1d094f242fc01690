// How shaders are told the format of elements. C++ and HLSL both include this.

// How an element's bits are interpreted.
#define KIND_UNSIGNED 0
#define KIND_SIGNED 1
#define KIND_FLOAT16 2
#define KIND_FLOAT32 3
#define KIND_FLOAT64 4

// The packing of 64-bit elements: one less than that of words. See elements.hlsli for the others.
#define PACKING_64 0xffffffffu

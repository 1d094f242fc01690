// How shaders are told what elements are. C++ and HLSL both include this.

// What an element's bits mean.
#define KIND_UNSIGNED 0
#define KIND_SIGNED 1
#define KIND_FLOAT16 2
#define KIND_FLOAT32 3
#define KIND_FLOAT64 4

// The packing of elements of 64 bits: one less than that of words. See elements.hlsli for the others.
#define PACKING_64 0xffffffffu

// Values of the macros by which the engine selects a shader's variant for the device. C++ and HLSL both include this.

// HALF: how FLOAT16 elements are converted to FP32 and back. Without any, elements are FLOAT32.
#define HALF_NONE 0
#define HALF_BY_INTEGERS 1
#define HALF_BY_DEVICE 2

// READS_UNITS: how units of 16 bytes are read.
#define UNITS_BY_WORDS 0
#define UNITS_AT_ONCE 1

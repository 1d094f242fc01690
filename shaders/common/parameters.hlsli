// How headers that C++ and HLSL share are written: a shader's constants, then its constant buffer between
// PARAMETERS(name) and END_PARAMETERS, which is a structure in C++.

#ifndef PARAMETERS
// Threads of a group, unless a variant of the shader has another number.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256
#endif

#ifdef __cplusplus
#include "engine/d3d12/planning/constant_buffer.h"
#define PARAMETERS(name) namespace dmlconform::d3d12 { struct name : ConstantBuffer {
#define END_PARAMETERS }; }
#else
#define PARAMETERS(name) cbuffer name : register(b0) {
#define END_PARAMETERS };
#endif
#endif

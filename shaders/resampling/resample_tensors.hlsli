// The tensors of resampling, and the meaning of their dimensions' rows.
//
// ELEMENTS  see element_layouts.hlsli

#include "shaders/resampling/resample_parameters.hlsli"

#include "shaders/common/made_elements.hlsli"

RWStructuredBuffer<uint> source : register(u0);
RWStructuredBuffer<uint> target : register(u1);

#define SOURCE_OFFSET offsets[0].y
#define TARGET_OFFSET offsets[0].z
// The position along scaled dimensions.
#define NUMBERS uint4(offsets[0].w, offsets[1].xyz)
